/** Has the height of two cards. */
export function DatabasesSkeleton({ section }: { section: string }) {
  return (
    <div className="databases-list placeholder-glow" role="status">
      <span className="visually-hidden">Loading {section}</span>
      {[1, 2].map((card) => (
        <span key={card} className="placeholder databases-skeleton-card" aria-hidden="true" />
      ))}
    </div>
  )
}
