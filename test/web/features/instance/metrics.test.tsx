import { act, screen, waitFor, within } from '@testing-library/react'
import { instanceOf } from '../../../support/web/factories'
import { fakeClock, pass } from '../../../support/web/fakeClock'
import { renderApp } from '../../../support/web/renderApp'

type ChartProps = {
  series: { data: [number, number | null][] }[]
  options: {
    colors: string[]
    chart: { group: string }
    annotations: { yaxis: object[] }
    xaxis: { min: number }
    yaxis: { max: number }
  }
}
const mockDrawn = jest.fn((_props: ChartProps) => null)
// jsdom has no SVG layout, so the test checks the props of the chart.
jest.mock('../../../../src/web/features/instance/metrics/GroupedChart', () => ({
  GroupedChart: (props: ChartProps) => mockDrawn(props),
}))

const lobby = instanceOf('3fa2c1-lobby')
const NOW = 1_700_000_000_000
const point = (ago: number, value: number) => ({ timestamp: NOW - ago * 15_000, value })
const chart = (name: string) => screen.findByRole('region', { name: `${name} metrics` })
const drawnIn = (color: string) => mockDrawn.mock.calls.findLast(([{ options }]) => options.colors[0] === color)?.[0]
const BLUE = '#2f80c9'
const GREEN = '#1f9d55'

function opened() {
  const app = renderApp(`/instance/lobby/${lobby.uid}?tab=metrics`, { signedInAs: 'ann' })
  app.network.get('/api/deployments/lobby/instances').answers({ instances: [lobby] })
  return app
}

beforeEach(() => mockDrawn.mockClear())
afterEach(() => jest.useRealTimers())

test('§2, §7 a blue mCPU chart and a green MB chart with two decimals share their hover', async () => {
  const { network } = opened()
  const cpu = network.get('/api/metrics/cpu').answers({ data: [point(1, 250), point(0, 300.4)] })
  const memory = network.get('/api/metrics/memory').answers({ data: [point(1, 1024), point(0, 123_456)] })
  expect(await within(await chart('CPU')).findByText('300 mCPU')).toBeVisible()
  expect(await within(await chart('Memory')).findByText('120.56 MB')).toBeVisible()
  expect(drawnIn(BLUE)?.series[0]?.data).toEqual([
    [NOW - 15_000, 250],
    [NOW, 300.4],
  ])
  expect(drawnIn(GREEN)?.series[0]?.data).toEqual([
    [NOW - 15_000, 1],
    [NOW, 120.56],
  ])
  expect([cpu, memory].map(({ calls }) => calls[0]?.query)).toEqual([`?pod=${lobby.podName}`, `?pod=${lobby.podName}`])
  expect(drawnIn(BLUE)?.options.chart.group).toBe('metrics')
  expect(drawnIn(GREEN)?.options.chart.group).toBe('metrics')
})

test('shows minimum, average, maximum and limit in words, and the limit as a line within the scale', async () => {
  const app = renderApp(`/instance/lobby/${lobby.uid}?tab=metrics`, { signedInAs: 'ann' })
  app.network
    .get('/api/deployments/lobby/instances')
    .answers({ instances: [{ ...lobby, limits: { cpu: 1500, memory: 2_097_152 } }] })
  app.network.get('/api/metrics/cpu').answers({ data: [point(2, 100), point(1, 200), point(0, 600)] })
  app.network.get('/api/metrics/memory').answers({ data: [point(0, 1024)] })
  const figures = async (name: string) =>
    within(await chart(name))
      .getAllByRole('term')
      .map((term) => `${term.textContent} ${term.nextElementSibling?.textContent}`)
  await within(await chart('Memory')).findByText('1.00 MB')
  await within(await chart('CPU')).findByText('600 mCPU')
  expect(await figures('CPU')).toEqual(['Minimum 100 mCPU', 'Average 300 mCPU', 'Maximum 600 mCPU', 'Limit 1,500 mCPU'])
  expect((await figures('Memory')).at(-1)).toBe('Limit 2,048.00 MB')
  const { annotations, yaxis } = drawnIn(BLUE)!.options
  expect(annotations.yaxis).toMatchObject([{ y: 1500, label: { text: 'Limit 1,500 mCPU' } }])
  expect(yaxis.max).toBeGreaterThanOrEqual(1500)
})

test('without a limit from the server, none is drawn', async () => {
  const { network } = opened()
  network.get('/api/metrics/cpu').answers({ data: [point(0, 5)] })
  network.get('/api/metrics/memory').answers({ data: [] })
  expect(await within(await chart('CPU')).findByText('5 mCPU')).toBeVisible()
  expect(screen.queryByText('Limit')).toBeNull()
  expect(drawnIn(BLUE)?.options.annotations.yaxis).toEqual([])
})

test('the range of 15 minutes shows the newest points, and is kept while another tab is open', async () => {
  const { network } = opened()
  network.get('/api/metrics/cpu').answers({ data: [point(200, 900), point(60, 30), point(0, 10)] })
  network.get('/api/metrics/memory').answers({ data: [] })
  const shownPoints = () => drawnIn(BLUE)?.series[0]?.data.filter(([, value]) => value !== null)
  const range = (name: string) => screen.getByRole('button', { name })
  expect(await within(await chart('CPU')).findByText('10 mCPU')).toBeVisible()
  expect(range('1 hour')).toHaveAttribute('aria-pressed', 'true')
  expect(shownPoints()).toHaveLength(3)
  act(() => range('15 min').click())
  expect(shownPoints()).toEqual([
    [NOW - 900_000, 30],
    [NOW, 10],
  ])
  expect(drawnIn(BLUE)?.options.xaxis.min).toBe(NOW - 900_000)
  act(() => screen.getByRole('tab', { name: 'Details' }).click())
  act(() => screen.getByRole('tab', { name: 'Metrics' }).click())
  expect(range('15 min')).toHaveAttribute('aria-pressed', 'true')
})

test('a gap in the samples is not connected by a line', async () => {
  const { network } = opened()
  network.get('/api/metrics/cpu').answers({ data: [point(20, 5), point(0, 6)] })
  network.get('/api/metrics/memory').answers({ data: [] })
  await waitFor(() => expect(drawnIn(BLUE)?.series[0]?.data.map(([, value]) => value)).toEqual([5, null, 6]))
})

test('§2 each chart has its own loading state', async () => {
  const { network } = opened()
  const cpu = network.get('/api/metrics/cpu').answersLater({ data: [point(0, 1)] })
  network.get('/api/metrics/memory').answers({ data: [point(0, 1024)] })
  expect(await within(await chart('Memory')).findByText('1.00 MB')).toBeVisible()
  expect(within(await chart('CPU')).getByText('Loading CPU metrics')).toBeInTheDocument()
  expect((await chart('CPU')).querySelector('.spinner-border')).toBeVisible()
  cpu.release()
  expect(await within(await chart('CPU')).findByText('1 mCPU')).toBeVisible()
  expect(screen.queryByText('Loading CPU metrics')).toBeNull()
  expect((await chart('CPU')).querySelector('.spinner-border')).toBeNull()
})

test('§2 each chart has its own error message, worded as specified', async () => {
  const { network } = opened()
  network.get('/api/metrics/cpu').answers(500, { message: 'no sampler' })
  network.get('/api/metrics/memory').isUnreachable()
  expect(await within(await chart('CPU')).findByText('Error loading CPU metrics: no sampler')).toBeVisible()
  expect(
    await within(await chart('Memory')).findByText('Error loading memory metrics: The server could not be reached.'),
  ).toBeVisible()
})

test.each([[{}], [{ data: 'x' }]])('a malformed response is shown as a failure: %j', async (answer) => {
  const { network } = opened()
  network.get('/api/metrics/cpu').answers(answer)
  network.get('/api/metrics/memory').answers({ data: [] })
  expect(await screen.findByText(/^Error loading CPU metrics: /)).toBeVisible()
})

test('shows an empty state when there are no data points', async () => {
  const { network } = opened()
  network.get('/api/metrics/cpu').answers({ data: [] })
  network.get('/api/metrics/memory').answers({ data: [] })
  expect(
    await within(await chart('CPU')).findByText(
      'No metrics yet. The first points appear within a minute of the start.',
    ),
  ).toBeVisible()
  expect(mockDrawn).not.toHaveBeenCalled()
})

test('§9 both charts are polled every 15 s, and a failed poll keeps the drawn data', async () => {
  fakeClock()
  const { network } = opened()
  network.get('/api/metrics/cpu').answers({ data: [point(0, 250)] })
  network.get('/api/metrics/memory').answers({ data: [point(0, 1024)] })
  expect(await within(await chart('CPU')).findByText('250 mCPU')).toBeVisible()
  await within(await chart('Memory')).findByText('1.00 MB')
  const cpu = network.get('/api/metrics/cpu').answers(503, { message: 'away' })
  const memory = network.get('/api/metrics/memory').answers({ data: [point(0, 2048)] })
  await pass(13_000)
  expect([cpu.calls, memory.calls].map((calls) => calls.length)).toEqual([0, 0])
  await pass(3000)
  expect([cpu.calls, memory.calls].map((calls) => calls.length)).toEqual([1, 1])
  expect(await within(await chart('Memory')).findByText('2.00 MB')).toBeVisible()
  expect(await screen.findByText('Error loading CPU metrics: away')).toBeVisible()
  expect(within(await chart('CPU')).getByText('250 mCPU')).toBeVisible()
})
