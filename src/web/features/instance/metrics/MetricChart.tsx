import type { ApexOptions } from 'apexcharts'
import { useMemo } from 'react'
import Chart from 'react-apexcharts'
import { failureHint, failureText } from '../../../failure'
import type { Metric } from '../../../api/metrics'
import { useGetMetricQuery } from '../../../api/metrics'
import styles from './metrics.module.scss'

/** Product §9. */
const POLL_MS = 15_000
const HOUR_MS = 3_600_000

const appearances: Record<
  Metric,
  { title: string; noun: string; unit: string; color: string; valueOf: (value: number) => number; digits: number }
> = {
  cpu: { title: 'CPU', noun: 'CPU', unit: 'mCPU', color: '#2f80c9', valueOf: (mCpu) => mCpu, digits: 0 },
  memory: {
    title: 'Memory',
    noun: 'memory',
    unit: 'MB',
    color: '#1f9d55',
    valueOf: (kib) => Number((kib / 1024).toFixed(2)),
    digits: 2,
  },
}

export function MetricChart({ podName, metric }: { podName: string; metric: Metric }) {
  const { data, error, isLoading } = useGetMetricQuery(
    { metric, pod: podName },
    { pollingInterval: POLL_MS, skipPollingIfUnfocused: true, refetchOnFocus: true, refetchOnMountOrArgChange: true },
  )
  const { title, noun, unit, color, valueOf, digits } = appearances[metric]
  const points = useMemo(
    () => (data ?? []).map(({ timestamp, value }): Point => [timestamp, valueOf(value)]),
    [data, valueOf],
  )
  const newest = points.at(-1)
  // A new object makes the chart render again.
  const chart = useMemo(
    () => ({ series: [{ name: title, data: withGaps(points) }], options: optionsOf(metric, points.at(-1)?.[0] ?? 0) }),
    [metric, title, points],
  )

  return (
    <section className={`${styles.metric} panel`} aria-label={`${title} metrics`}>
      <h2>
        {title} <span className={styles.unit}>({unit})</span>
        {newest && (
          <span className={styles.now} style={{ borderColor: color }}>
            {newest[1].toFixed(digits)} {unit}
          </span>
        )}
      </h2>
      {error && (
        <p className="alert alert-danger" role="alert">
          {`Error loading ${noun} metrics: ${failureText(error, failureHint(error) ?? 'the answer could not be read')}`}
        </p>
      )}
      {isLoading && (
        <div className={styles.wait} role="status">
          <span className="spinner-border" aria-hidden="true" />
          <span className="visually-hidden">Loading {noun} metrics</span>
        </div>
      )}
      {data && points.length === 0 && (
        <p className={styles.wait}>No metrics yet. The first come within a minute of its start.</p>
      )}
      {points.length > 0 && (
        <div className={styles.chart} aria-hidden="true">
          <Chart type="line" height={CHART_HEIGHT} width="100%" {...chart} />
        </div>
      )}
    </section>
  )
}

type Point = [timestamp: number, value: number]

/** Inserts null where samples are missing, so that no line is drawn across the gap. */
const withGaps = (points: Point[]) =>
  points.flatMap(([timestamp, value], index): [number, number | null][] => {
    const before = points[index - 1]?.[0] ?? timestamp
    return timestamp - before > 3 * POLL_MS
      ? [
          [before + 1, null],
          [timestamp, value],
        ]
      : [[timestamp, value]]
  })

/** In pixels. Also in metrics.module.scss. */
const CHART_HEIGHT = 260

/** Text, grid and tooltip get their colours from the style sheet, so that they follow the theme. */
function optionsOf(metric: Metric, end: number): ApexOptions {
  const { color, unit, digits } = appearances[metric]
  const text = (value: number | null) => (value === null ? '' : `${value.toFixed(digits)} ${unit}`)
  return {
    chart: {
      id: `metric-${metric}`,
      // Charts of one group synchronise their cursors.
      group: 'metrics',
      animations: { enabled: false },
      toolbar: { show: false },
      zoom: { enabled: false },
      fontFamily: 'inherit',
      parentHeightOffset: 0,
    },
    colors: [color],
    stroke: { width: 2, curve: 'straight' },
    markers: { size: 0, hover: { size: 4 } },
    dataLabels: { enabled: false },
    legend: { show: false },
    grid: { padding: { left: 8, right: 12 } },
    xaxis: {
      type: 'datetime',
      min: end - HOUR_MS,
      max: end,
      labels: { datetimeUTC: false, format: 'HH:mm' },
      tooltip: { enabled: false },
      axisBorder: { show: false },
    },
    yaxis: {
      min: 0,
      forceNiceScale: true,
      // A fixed width for both charts aligns their time axes.
      labels: { minWidth: 56, maxWidth: 56, formatter: (value) => value.toFixed(value > 0 && value < 10 ? digits : 0) },
    },
    tooltip: { x: { format: 'HH:mm:ss' }, y: { formatter: text } },
  }
}
