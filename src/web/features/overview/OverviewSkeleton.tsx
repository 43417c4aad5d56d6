/** Stands where the first sections will: same heights, so that nothing jumps when they come. */
export function OverviewSkeleton() {
  return (
    <div className="placeholder-glow" role="status">
      <span className="visually-hidden">Loading the network overview</span>
      {[3, 2].map((cards, index) => (
        <div key={index} className="deployment" aria-hidden="true">
          <div className="deployment-head">
            <span className="placeholder skeleton-title" />
          </div>
          <div className="instances">
            {Array.from({ length: cards }, (_, card) => (
              <span key={card} className="placeholder skeleton-card" />
            ))}
          </div>
        </div>
      ))}
    </div>
  )
}
