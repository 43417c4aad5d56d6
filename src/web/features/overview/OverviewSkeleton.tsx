/** Has the heights of the sections, so that the layout does not jump when they are loaded. */
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
