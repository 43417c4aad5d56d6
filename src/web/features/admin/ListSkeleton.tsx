export function ListSkeleton({ label }: { label: string }) {
  return (
    <div className="placeholder-glow panel admin-list" role="status">
      <span className="visually-hidden">{label}</span>
      {[1, 2, 3].map((row) => (
        <span key={row} className="admin-row" aria-hidden="true">
          <span className="placeholder admin-skeleton" />
        </span>
      ))}
    </div>
  )
}
