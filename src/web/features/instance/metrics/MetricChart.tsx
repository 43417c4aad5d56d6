import type { ApexOptions } from 'apexcharts'
import { useMemo } from 'react'
import { failureHint, failureText } from '../../../failure'
import type { Metric } from '../../../api/metrics'
import { useGetMetricQuery } from '../../../api/metrics'
import { usePollingInterval } from '../../../api/transport/usePollingInterval'
import type { MetricsRange } from '../instanceSlice'
import { GroupedChart } from './GroupedChart'
import { grouped, scaleUpTo } from './scale'
import styles from './metrics.module.scss'

/** Product §9. */
const POLL_MS = 15_000
const SPANS_MS: Record<MetricsRange, number> = { quarter: 900_000, hour: 3_600_000 }

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

type MetricChartProps = {
  podName: string
  metric: Metric
  range: MetricsRange
  /** In the unit of the server's points. */
  limit: number | undefined
}

export function MetricChart({ podName, metric, range, limit: serverLimit }: MetricChartProps) {
  const { data, error, isLoading } = useGetMetricQuery(
    { metric, pod: podName },
    {
      pollingInterval: usePollingInterval(POLL_MS),
      skipPollingIfUnfocused: true,
      refetchOnFocus: true,
      refetchOnMountOrArgChange: true,
    },
  )
  const { title, noun, unit, color, valueOf, digits } = appearances[metric]
  const limit = serverLimit === undefined ? undefined : valueOf(serverLimit)
  const points = useMemo(() => {
    const all = (data ?? []).map(({ timestamp, value }): Point => [timestamp, valueOf(value)])
    const start = (all.at(-1)?.[0] ?? 0) - SPANS_MS[range]
    return all.filter(([timestamp]) => timestamp >= start)
  }, [data, valueOf, range])
  const newest = points.at(-1)
  // A new object makes the chart render again.
  const chart = useMemo(
    () => ({
      series: [{ name: title, data: withGaps(points) }],
      options: optionsOf(metric, { points, span: SPANS_MS[range], limit }),
    }),
    [metric, title, points, range, limit],
  )

  return (
    <section className={`${styles.metric} panel`} aria-label={`${title} metrics`}>
      <h2>
        {title} <span className={styles.unit}>({unit})</span>
        {newest && (
          <span className={styles.now} style={{ borderColor: color }}>
            {grouped(newest[1], digits)} {unit}
          </span>
        )}
      </h2>
      {error && (
        <p className="alert alert-danger" role="alert">
          {`Error loading ${noun} metrics: ${failureText(error, failureHint(error) ?? 'the response could not be read')}`}
        </p>
      )}
      {isLoading && (
        <div className={styles.wait} role="status">
          <span className="spinner-border" aria-hidden="true" />
          <span className="visually-hidden">Loading {noun} metrics</span>
        </div>
      )}
      {data && points.length === 0 && (
        <p className={styles.wait}>No metrics yet. The first points appear within a minute of the start.</p>
      )}
      {points.length > 0 && (
        <div className={styles.chart} aria-hidden="true">
          <GroupedChart id={chartId(metric)} height={CHART_HEIGHT} {...chart} />
        </div>
      )}
      {points.length > 0 && (
        <dl className={styles.figures}>
          {figuresOf(points, limit).map(([term, value]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>
                {grouped(value, digits)} <span>{unit}</span>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

type Point = [timestamp: number, value: number]

/** The chart's figures as text, because the chart is hidden from screen readers. */
function figuresOf(points: Point[], limit: number | undefined): [string, number][] {
  const values = points.map(([, value]) => value)
  return [
    ['Minimum', Math.min(...values)],
    ['Average', values.reduce((sum, value) => sum + value, 0) / values.length],
    ['Maximum', Math.max(...values)],
    ...(limit === undefined ? [] : [['Limit', limit] satisfies [string, number]]),
  ]
}

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

const chartId = (metric: Metric) => `metric-${metric}`

type Shown = { points: Point[]; span: number; limit: number | undefined }

const LABELS = { fontSize: '12px' }

/** Text, grid and tooltip get their colours from the style sheet, so that they follow the theme. */
function optionsOf(metric: Metric, { points, span, limit }: Shown): ApexOptions {
  const { color, unit, digits } = appearances[metric]
  const text = (value: number | null) => (value === null ? '' : `${grouped(value, digits)} ${unit}`)
  const end = points.at(-1)?.[0] ?? 0
  const scale = scaleUpTo(Math.max(...points.map(([, value]) => value), limit ?? 0))
  return {
    chart: {
      id: chartId(metric),
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
    fill: { type: 'solid', opacity: 0.08 },
    markers: { size: 0, hover: { size: 4 } },
    dataLabels: { enabled: false },
    legend: { show: false },
    grid: { padding: { left: 8, right: 12 } },
    xaxis: {
      type: 'datetime',
      min: end - span,
      max: end,
      labels: { datetimeUTC: false, format: 'HH:mm', style: LABELS },
      tooltip: { enabled: false },
      axisBorder: { show: false },
    },
    yaxis: {
      min: 0,
      max: scale.max,
      tickAmount: scale.ticks,
      // A fixed width for both charts aligns their time axes.
      labels: { minWidth: 48, maxWidth: 48, formatter: scale.text, style: LABELS },
    },
    annotations: {
      yaxis:
        limit === undefined
          ? []
          : [
              {
                y: limit,
                strokeDashArray: 6,
                label: {
                  text: `Limit ${grouped(limit, 0)} ${unit}`,
                  position: 'left',
                  textAnchor: 'start',
                  offsetX: 4,
                  borderWidth: 0,
                  style: LABELS,
                },
              },
            ],
    },
    tooltip: { x: { format: 'HH:mm:ss' }, y: { formatter: text } },
  }
}
