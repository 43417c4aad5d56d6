import './metrics.scss'

/** Has the height of the charts. */
export function MetricsSkeleton() {
  return (
    <div className="metrics" role="status">
      <span className="visually-hidden">Loading the metrics</span>
      {['CPU', 'Memory'].map((name) => (
        <div key={name} className="metric panel" aria-hidden="true" />
      ))}
    </div>
  )
}
