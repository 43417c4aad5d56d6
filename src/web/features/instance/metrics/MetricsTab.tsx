import { MetricChart } from './MetricChart'
import styles from './metrics.module.scss'

export function MetricsTab({ podName }: { podName: string }) {
  return (
    <div className={styles.metrics}>
      <MetricChart podName={podName} metric="cpu" />
      <MetricChart podName={podName} metric="memory" />
    </div>
  )
}
