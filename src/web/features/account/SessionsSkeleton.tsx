export function SessionsSkeleton() {
  return (
    <div className="placeholder-glow" role="status">
      <span className="visually-hidden">Loading your sessions</span>
      {[1, 2].map((row) => (
        <span key={row} className="placeholder session-skeleton" aria-hidden="true" />
      ))}
    </div>
  )
}
