import { useDispatch, useSelector } from 'react-redux'
import type { Instance } from '../../../../contract/instance'
import type { MetricsRange } from '../instanceSlice'
import { rangeChosen, selectRange } from '../instanceSlice'
import { MetricChart } from './MetricChart'
import styles from './metrics.module.scss'

const RANGES: readonly { key: MetricsRange; title: string }[] = [
  { key: 'quarter', title: '15 min' },
  { key: 'hour', title: '1 hour' },
]

export function MetricsTab({ podName, limits }: { podName: string; limits: Instance['limits'] }) {
  const range = useSelector(selectRange)
  const dispatch = useDispatch()
  return (
    <div className={styles.metrics}>
      <div className={styles.ranges} role="group" aria-label="Range">
        {RANGES.map(({ key, title }) => (
          <button key={key} type="button" aria-pressed={key === range} onClick={() => dispatch(rangeChosen(key))}>
            {title}
          </button>
        ))}
      </div>
      <MetricChart podName={podName} metric="cpu" range={range} limit={limits?.cpu} />
      <MetricChart podName={podName} metric="memory" range={range} limit={limits?.memory} />
    </div>
  )
}
