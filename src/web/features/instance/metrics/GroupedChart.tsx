import type { ApexOptions } from 'apexcharts'
import ApexCharts from 'apexcharts'
import { useEffect, useState } from 'react'
import Chart from 'react-apexcharts'

// The build extracts the style sheet of ApexCharts, because the Content-Security-Policy allows none inserted by script.
// ApexCharts inserts its own unless there is an element with this id.
document.head.append(Object.assign(document.createElement('meta'), { id: 'apexcharts-css' }))

type GroupedChartProps = {
  /** The id in the options. */
  id: string
  height: number
  series: ApexAxisChartSeries
  options: ApexOptions
}

/**
 * An area chart of a group, which synchronises the cursors of its charts. After a change of props, react-apexcharts
 * would update all charts of the group with these options, including the id, so this component updates its chart
 * itself:
 * `exec` changes one chart only.
 */
export function GroupedChart({ id, height, series, options }: GroupedChartProps) {
  const [first] = useState({ series, options })
  useEffect(() => {
    if (options !== first.options) void ApexCharts.exec(id, 'updateOptions', { ...options, series })
  }, [id, first, series, options])
  return <Chart type="area" height={height} width="100%" {...first} />
}
