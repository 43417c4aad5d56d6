import { MetricChart } from './MetricChart'

export function MetricsTab({ podName }: { podName: string }) {
  return (
    <div className="metrics">
      <MetricChart podName={podName} metric="cpu" />
      <MetricChart podName={podName} metric="memory" />
    </div>
  )
}
