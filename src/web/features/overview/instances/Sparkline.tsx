import { MAX_SAMPLES } from '../overviewSlice'
import styles from './sparkline.module.scss'

const WIDTH = 80
const HEIGHT = 20
/** Fewer samples would be only a speck. */
const MIN_SAMPLES = 4
/** Minimum range in percent, so that an idle instance draws a straight line instead of noise. */
const LEAST_RANGE = 10

type SparklineProps = {
  samples: readonly number[] | undefined
  /** Places the line in the parent's layout. */
  className: string | undefined
}

/** The newest sample is at the right edge. Hidden from screen readers, which read the figure beside it. */
export function Sparkline({ samples = [], className }: SparklineProps) {
  return (
    <svg
      className={`${className} ${styles.sparkline}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      aria-hidden="true"
    >
      {samples.length >= MIN_SAMPLES && <polyline points={pointsOf(samples)} />}
    </svg>
  )
}

function pointsOf(samples: readonly number[]): string {
  const [least, most] = [Math.min(...samples), Math.max(...samples)]
  const range = Math.max(LEAST_RANGE, most - least)
  const base = Math.max(0, (least + most - range) / 2)
  const step = WIDTH / (MAX_SAMPLES - 1)
  return samples
    .map((value, at) => {
      const x = WIDTH - (samples.length - 1 - at) * step
      const y = HEIGHT - 1 - ((value - base) / range) * (HEIGHT - 2)
      return `${x.toFixed(1)},${y.toFixed(1)}`
    })
    .join(' ')
}
