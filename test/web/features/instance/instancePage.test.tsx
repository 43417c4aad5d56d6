import { act, screen, waitFor, within } from '@testing-library/react'
import { deploymentOf, instanceOf } from '../../../support/web/factories'
import { network } from '../../../support/web/network'
import { renderApp } from '../../../support/web/renderApp'
import type { Instance } from '../../../../src/contract/instance'
import { api } from '../../../../src/web/api/api'
import { instancesApi } from '../../../../src/web/api/instances'

const lobby = instanceOf('3fa2c1-lobby')
const PATH = `/instance/lobby/${lobby.uid}`
const CALL = '/api/deployments/lobby/instances'

const fakeClock = () => jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick', 'performance'] })
const pass = (milliseconds: number) => act(() => jest.advanceTimersByTimeAsync(milliseconds))

async function shown(more: Partial<Instance> = {}, path = PATH) {
  const app = renderApp(path, { signedInAs: 'ann' })
  const call = app.network.get(CALL).answers({ instances: [instanceOf('77e0d4-lobby'), { ...lobby, ...more }] })
  await screen.findByRole('heading', { level: 1, name: '3fa2c1-lobby' })
  act(() => app.console.listener?.opened())
  return { ...app, call }
}
const card = (name: string) => screen.getByRole('region', { name })
const power = () => screen.getByRole('group', { name: 'Power' })

afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

test('§2 the instance page has a header, four cards, three tabs and four power buttons', async () => {
  const { user, network } = await shown({
    connections: 3,
    uptime: '3h 12m',
    cpu: 12.34,
    memory: { used: 1.256, total: 4 },
  })
  expect(document.title).toBe('3fa2c1-lobby · Quarterdeck')
  expect(card('Status')).toHaveTextContent('StatusOnline3 connections')
  expect(within(card('Status')).getByText('Online')).toHaveClass('state', 'running')
  expect(card('Uptime')).toHaveTextContent('3h 12m')
  expect(card('CPU Usage')).toHaveTextContent('12.3%of 100%')
  expect(card('Memory Usage')).toHaveTextContent('1.26/4 GiB')
  expect(screen.getAllByRole('tab').map((tab) => tab.textContent)).toEqual(['Console', 'Metrics', 'Details'])
  expect(
    within(power())
      .getAllByRole('button')
      .map((button) => button.textContent),
  ).toEqual(['Start', 'Restart', 'Stop', 'Kill'])
  network.shows([])
  await user.click(screen.getByRole('link', { name: 'Back to home' }))
  expect(window.location.pathname).toBe('/')
})

test('a breadcrumb leads to the overview and the deployments, and links to the files and the configuration', async () => {
  await shown({ dataDirectory: '/games/the lobby' })
  const trail = screen.getByRole('navigation', { name: 'Breadcrumb' })
  expect(
    within(trail)
      .getAllByRole('link')
      .map((link) => [link.textContent, link.getAttribute('href')]),
  ).toEqual([
    ['Overview', '/'],
    ['lobby', '/deployments'],
  ])
  await waitFor(() =>
    expect(screen.getByRole('link', { name: 'Files of lobby' })).toHaveAttribute('href', '/files/games/the%20lobby'),
  )
  expect(screen.getByRole('link', { name: 'Configuration of lobby' })).toHaveAttribute(
    'href',
    '/deployments/lobby/edit',
  )
})

test('§16 files and configuration are not linked for a user without these rights', async () => {
  network.get('/api/account').answers({ role: 'limited', grants: [{ deployment: 'lobby', rights: ['view', 'power'] }] })
  await shown({ state: 'BLOCKED', blockedReason: 'Jar file not found! Expected path: /nfsshare/lobby/server.jar' })
  await waitFor(() => expect(screen.queryByRole('link', { name: 'Files of lobby' })).toBeNull())
  expect(screen.queryByRole('link', { name: 'Configuration of lobby' })).toBeNull()
  expect(within(banner()).queryAllByRole('link')).toEqual([])
})

const banner = () => screen.getByRole('status', { name: 'Blocked' })

test('an instance whose jar is missing shows where it is expected, with links to files and configuration', async () => {
  await shown({ state: 'BLOCKED', blockedReason: 'Jar file not found! Expected path: /nfsshare/lobby/server.jar' })
  expect(banner()).toHaveTextContent('Jar file not found! Expected path: /nfsshare/lobby/server.jar')
  expect(within(banner()).getByRole('link', { name: 'Open files' })).toHaveAttribute('href', '/files/lobby')
  expect(within(banner()).getByRole('link', { name: 'Open configuration' })).toBeVisible()
  expect(within(banner()).queryByRole('button')).toBeNull()
})

test('an instance that crashed too often shows its last exit, opens the crash details and starts again', async () => {
  const lastExit = { code: 3, signal: null, at: 1_700_000_000_000, reason: 'Ended by itself with exit code 3' }
  const { user, console, network } = await shown({
    state: 'BLOCKED',
    blockedReason: 'Ended 5 times within 5 minutes, the last time with exit code 3',
    lastExit,
    crashedAt: lastExit.at,
  })
  expect(banner()).toHaveTextContent('Last exit: Ended by itself with exit code 3')
  await user.click(within(banner()).getByRole('button', { name: 'Start again' }))
  expect(console.sent).toEqual([{ type: 'power', action: 'start' }])
  network
    .get(`${CALL}/${lobby.uid}/crash`)
    .answers({ exit: lastExit, lines: [{ seq: 1, type: 'error', content: 'boom' }], cpu: [], memory: [] })
  await user.click(within(banner()).getByRole('button', { name: 'Open crash details' }))
  expect(await screen.findByText('boom')).toBeVisible()
  expect(window.location.search).toBe('?tab=details')
})

test('a blocked process, which cannot be started on its own, leads to its deployment', async () => {
  await shown({ type: 'process', state: 'BLOCKED', blockedReason: 'Port 80 is taken by a web server.' })
  expect(banner()).toHaveTextContent('Port 80 is taken by a web server.Fix this, then restart its deployment.')
  expect(within(banner()).getByRole('link', { name: 'Open deployments' })).toHaveAttribute('href', '/deployments')
})

test('the banner needs no reason from the server, and is gone when the instance is not blocked any more', async () => {
  const { console } = await shown({ state: 'BLOCKED' })
  expect(banner()).toHaveTextContent('The instance is blocked.The last lines of its console show the reason.')
  act(() => console.receive({ type: 'power', content: 'RUNNING' }))
  await waitFor(() => expect(screen.queryByRole('status', { name: 'Blocked' })).toBeNull())
})

test("§2 an unknown uptime reads '0s'", async () => {
  await shown({ uptime: '' })
  expect(card('Uptime')).toHaveTextContent('Uptime0s')
})

test('§2 the page shows the instance passed by the overview until the first response replaces it', async () => {
  const app = renderApp(PATH, {
    signedInAs: 'ann',
    historyState: { usr: { instance: { ...lobby, uptime: 'passed' } }, key: 'x', idx: 0 },
  })
  const { release } = app.network.get(CALL).answersLater({ instances: [{ ...lobby, uptime: 'answered' }] })
  expect(await screen.findByText('passed')).toBeVisible()
  expect(app.console.urls).toEqual(['ws://localhost/api/logs/lobby/pod-3fa2c1-lobby'])
  release()
  expect(await screen.findByText('answered')).toBeVisible()
  expect(app.console.urls).toHaveLength(1)
})

test('a new instance opened from the overview is shown before its own request completes', async () => {
  fakeClock()
  const newcomer = instanceOf('77e0d4-lobby')
  const app = renderApp('/', { signedInAs: 'ann' })
  app.network.shows([{ deployment: deploymentOf('lobby'), instances: [lobby] }])
  await app.user.click(await screen.findByRole('link', { name: /3fa2c1-lobby/ }))
  await app.user.click(await screen.findByRole('link', { name: 'Back to home' }))
  app.network.shows([{ deployment: deploymentOf('lobby'), instances: [lobby, newcomer] }])
  // The next poll of the overview (§9).
  await pass(3100)
  const link = await screen.findByRole('link', { name: /77e0d4-lobby/ })
  const { release } = app.network.get(CALL).answersLater({ instances: [lobby, newcomer] })
  await app.user.click(link)
  expect(await screen.findByRole('heading', { level: 1 })).toHaveTextContent('77e0d4-lobby')
  release()
})

test('navigating to an instance of another deployment does not reuse the previous response', async () => {
  const { network } = await shown()
  const proxy = instanceOf('0b55aa-proxy')
  const { release } = network.get('/api/deployments/proxy/instances').answersLater({ instances: [proxy] })
  act(() => {
    window.history.pushState({ usr: { instance: proxy }, key: 'y', idx: 1 }, '', `/instance/proxy/${proxy.uid}`)
    window.dispatchEvent(new PopStateEvent('popstate', { state: window.history.state }))
  })
  expect(await screen.findByRole('heading', { level: 1, name: '0b55aa-proxy' })).toBeVisible()
  release()
})

test('an instance passed for another URL is ignored', async () => {
  const app = renderApp(PATH, {
    signedInAs: 'ann',
    historyState: { usr: { instance: instanceOf('77e0d4-lobby') }, key: 'x', idx: 0 },
  })
  app.network.get(CALL).answers({ instances: [lobby] })
  expect(await screen.findByRole('heading', { level: 1, name: '3fa2c1-lobby' })).toBeVisible()
  expect(screen.queryByText('77e0d4-lobby')).toBeNull()
})

test('§9 the instance is polled every 3 s', async () => {
  fakeClock()
  const { call, network } = await shown()
  expect(call.calls).toHaveLength(1)
  const next = network.get(CALL).answers({ instances: [{ ...lobby, uptime: '4h' }] })
  await pass(2900)
  expect(next.calls).toHaveLength(0)
  await pass(200)
  expect(next.calls).toHaveLength(1)
  await waitFor(() => expect(card('Uptime')).toHaveTextContent('4h'))
})

test.each([
  [
    'unknown to its deployment',
    (app: ReturnType<typeof renderApp>) => app.network.get(CALL).answers({ instances: [] }),
  ],
  [
    'of an unknown deployment',
    (app: ReturnType<typeof renderApp>) => app.network.get(CALL).answers(404, { message: 'no such deployment' }),
  ],
])("an instance %s shows 'Instance Not Found' with a link home", async (_case, prepare) => {
  const app = renderApp(PATH, { signedInAs: 'ann' })
  prepare(app)
  expect(await screen.findByRole('heading', { name: 'Instance Not Found' })).toBeVisible()
  expect(app.console.urls).toEqual([])
  app.network.shows([])
  await app.user.click(screen.getByRole('link', { name: 'Return Home' }))
  expect(window.location.pathname).toBe('/')
})

test('a failed first request shows the reason, and Retry refetches', async () => {
  const app = renderApp(PATH, { signedInAs: 'ann' })
  app.network.get(CALL).answers(503, { message: 'The state is away' })
  expect(await screen.findByRole('alert')).toHaveTextContent('The state is away')
  app.network.get(CALL).answers({ instances: [lobby] })
  await app.user.click(screen.getByRole('button', { name: 'Retry' }))
  expect(await screen.findByRole('heading', { level: 1, name: '3fa2c1-lobby' })).toBeVisible()
})

test('a failed poll keeps the last data and shows the reason', async () => {
  fakeClock()
  const { network } = await shown()
  network.get(CALL).answers(503, { message: 'The state is away' })
  await pass(3100)
  expect(await screen.findByText('The state is away. Showing the last known state.')).toBeVisible()
  expect(card('Status')).toHaveTextContent('Online')
})

test('while the cluster does not answer, the page says how old the state is that it shows', async () => {
  fakeClock()
  const { network } = await shown({ clusterSilentSince: Date.now() - 330_000 })
  expect(await screen.findByRole('alert')).toHaveTextContent(
    'The Kubernetes cluster last answered 5 minutes ago. Showing the state at that time.',
  )
  expect(card('Status')).toHaveTextContent('Online')
  network.get(CALL).answers({ instances: [lobby] })
  await pass(3100)
  await waitFor(() => expect(screen.queryByRole('alert')).not.toBeInTheDocument())
})

test('§3 an unknown state shows an error on the status card only', async () => {
  jest.spyOn(console, 'error').mockImplementation(() => {})
  await shown({ state: 'EXPLODED' as Instance['state'] })
  expect(within(card('Status')).getByRole('alert')).toHaveTextContent('Unknown instance state: EXPLODED')
  expect(screen.getByRole('textbox', { name: 'Command' })).toBeVisible()
})

test.each([
  ['STARTING', ['Start']],
  ['RUNNING', ['Start']],
  ['BLOCKED', []],
  ['STOPPING', ['Restart', 'Stop']],
  ['STOPPED', ['Restart', 'Stop', 'Kill']],
] as const)('§4 in state %s the disabled power buttons are %j', async (state, disabled) => {
  await shown({ state })
  const buttons = within(power()).getAllByRole('button')
  expect(
    buttons.filter((button) => button.getAttribute('aria-disabled') === 'true').map((button) => button.textContent),
  ).toEqual(disabled)
})

test('a disabled power button says why', async () => {
  const { console } = await shown()
  const start = within(power()).getByRole('button', { name: 'Start' })
  expect(start).toHaveAccessibleDescription('It is already running')
  expect(within(power()).getByRole('button', { name: 'Kill' })).not.toHaveAttribute('title')
  act(() => console.receive({ type: 'power', content: 'STOPPED' }))
  await waitFor(() => expect(start).not.toHaveAttribute('title'))
  expect(within(power()).getByRole('button', { name: 'Kill' })).toHaveAccessibleDescription('It is already stopped')
  expect(within(power()).getByRole('button', { name: 'Restart' })).toHaveAccessibleDescription('It is not running')
})

test('§4 a disabled power button keeps focus and sends nothing', async () => {
  const { user, console } = await shown()
  const stop = within(power()).getByRole('button', { name: 'Stop' })
  stop.focus()
  await user.keyboard('{Enter}')
  expect(console.sent).toEqual([{ type: 'power', action: 'stop' }])
  act(() => console.receive({ type: 'power', content: 'STOPPING' }))
  await waitFor(() => expect(stop).toHaveAttribute('aria-disabled', 'true'))
  expect(stop).toHaveFocus()
  await user.keyboard('{Enter}')
  await user.click(stop)
  expect(console.sent).toHaveLength(1)
})

test('a stopped instance shows no usage, even before the next response', async () => {
  const { console } = await shown({ connections: 3, uptime: '52s', cpu: 12, memory: { used: 0.04, total: 2 } })
  act(() => console.receive({ type: 'power', content: 'STOPPED' }))
  await waitFor(() => expect(card('Status')).toHaveTextContent('StatusOffline0 connections'))
  expect(card('Uptime')).toHaveTextContent('Uptime0s')
  expect(card('CPU Usage')).toHaveTextContent('0%of 100%')
  expect(card('Memory Usage')).toHaveTextContent('0/2 GiB')
})

test('§2 Start and Restart are hidden when the type is process', async () => {
  await shown({ type: 'process' })
  expect(
    within(power())
      .getAllByRole('button')
      .map((button) => button.textContent),
  ).toEqual(['Stop', 'Kill'])
})

test.each([
  ['Start', 'STOPPED', 'start'],
  ['Restart', 'RUNNING', 'restart'],
  ['Stop', 'RUNNING', 'stop'],
] as const)('§7 %s is sent over the console channel', async (label, state, action) => {
  const { user, console } = await shown({ state })
  await user.click(screen.getByRole('button', { name: label }))
  expect(console.sent).toEqual([{ type: 'power', action }])
})

test('§4 a power message updates the state at once, on the page and on the overview', async () => {
  const app = renderApp('/', { signedInAs: 'ann' })
  app.network.shows([{ deployment: deploymentOf('lobby'), instances: [lobby] }])
  await app.user.click(await screen.findByRole('link', { name: /3fa2c1-lobby/ }))
  const known = (state: string) =>
    Object.values(app.store.getState().api.queries).filter((query) =>
      JSON.stringify(query?.data ?? '').includes(`"${state}"`),
    )
  await waitFor(() => expect(known('RUNNING')).toHaveLength(2))
  act(() => app.console.listener?.opened())
  act(() => app.console.receive({ type: 'power', content: 'STOPPED' }))
  expect(known('STOPPED')).toHaveLength(2)
  await waitFor(() => expect(card('Status')).toHaveTextContent('Offline'))
  expect(screen.getByRole('button', { name: 'Start' })).toBeEnabled()
})

test('a response in flight when a power message arrives does not overwrite the newer state', async () => {
  const { console, network, store } = await shown()
  act(() => console.listener?.opened())
  const outdated = network
    .get('/api/deployments/lobby/instances')
    .answersLater({ instances: [{ ...lobby, state: 'STOPPING' }] })
  act(() => void store.dispatch(api.util.invalidateTags(['Instance'])))
  await waitFor(() => expect(outdated.calls).toHaveLength(1))
  act(() => console.receive({ type: 'power', content: 'STOPPED' }))
  const answered = store.dispatch(instancesApi.util.getRunningQueryThunk('getInstances', 'lobby'))
  outdated.release()
  await act(async () => expect(await answered).toMatchObject({ data: [{ state: 'STOPPING' }] }))
  await waitFor(() => expect(card('Status')).toHaveTextContent('Offline'))
})

test('§4 switching to another instance reconnects the console after 100 ms', async () => {
  fakeClock()
  const { console } = await shown()
  act(() => {
    window.history.pushState({ usr: null, key: 'y', idx: 1 }, '', '/instance/lobby/uid-77e0d4-lobby')
    window.dispatchEvent(new PopStateEvent('popstate', { state: window.history.state }))
  })
  await screen.findByRole('heading', { level: 1, name: '77e0d4-lobby' })
  expect(console.closed).toBe(1)
  await pass(0)
  expect(console.urls).toHaveLength(1)
  await pass(100)
  expect(console.urls).toEqual(
    ['lobby/pod-3fa2c1-lobby', 'lobby/pod-77e0d4-lobby'].map((path) => `ws://localhost/api/logs/${path}`),
  )
})

test('§4 Kill asks for confirmation, is sent, and returns home after 1 s', async () => {
  fakeClock()
  const { user, console, network } = await shown()
  network.shows([])
  await user.click(screen.getByRole('button', { name: 'Kill' }))
  expect(console.sent).toEqual([])
  await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Kill' }))
  expect(console.sent).toEqual([{ type: 'power', action: 'kill' }])
  await pass(950)
  expect(window.location.pathname).toBe(PATH)
  await pass(100)
  expect(window.location.pathname).toBe('/')
})

test('cancelling Kill sends nothing and stays on the page', async () => {
  fakeClock()
  const { user, console } = await shown()
  await user.click(screen.getByRole('button', { name: 'Kill' }))
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  await pass(2000)
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(console.sent).toEqual([])
  expect(window.location.pathname).toBe(PATH)
})

test('a Kill on a closed socket stays on the page', async () => {
  jest.spyOn(console, 'warn').mockImplementation(() => {})
  fakeClock()
  const { user, console: far } = await shown()
  act(() => far.listener?.closed(1006))
  await user.click(screen.getByRole('button', { name: 'Kill' }))
  await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Kill' }))
  await pass(2000)
  expect(window.location.pathname).toBe(PATH)
})

test('the selected tab is in the URL, follows arrow keys and survives a reload', async () => {
  const { user } = await shown({}, `${PATH}?tab=details`)
  expect(screen.getByRole('tab', { name: 'Details' })).toHaveAttribute('aria-selected', 'true')
  expect(screen.getByRole('heading', { name: 'Instance Details' })).toBeVisible()
  screen.getByRole('tab', { name: 'Details' }).focus()
  await user.keyboard('{ArrowRight}')
  expect(screen.getByRole('tab', { name: 'Console' })).toHaveFocus()
  expect(window.location.search).toBe('')
  await user.keyboard('{End}')
  expect(window.location.search).toBe('?tab=details')
})

test('§2 Details shows pod name, IP, player count and player names', async () => {
  await shown({ players: { a: 'Ann', b: 'Bob' } }, `${PATH}?tab=details`)
  const details = screen.getByRole('region', { name: 'Instance Details' })
  expect(details).toHaveTextContent('Pod namepod-3fa2c1-lobby')
  expect(details).toHaveTextContent('IP10.0.0.1')
  expect(details).toHaveTextContent('Player count2')
  expect(
    within(details)
      .getAllByRole('listitem')
      .map((item) => item.textContent),
  ).toEqual(['Ann', 'Bob'])
})

test('Details has the warnings first, and copies pod name and IP', async () => {
  const { user } = await shown({ warnings: ['Nobody listens.'] }, `${PATH}?tab=details`)
  expect(screen.getAllByRole('term')[0]).toHaveTextContent('Warning')
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(screen.getByRole('button', { name: 'Copy the pod name' }))
  await user.click(screen.getByRole('button', { name: 'Copy the IP' }))
  expect(write.mock.calls).toEqual([['pod-3fa2c1-lobby'], ['10.0.0.1']])
})

test.each([
  [5, 'Player count5', '5 connections'],
  [null, 'Player countUnknown: the server does not answer', 'connections unknown'],
])(
  '§14 Details and the status card show the reported number of players: %p',
  async (playerCount, count, connections) => {
    await shown({ players: { a: 'Ann' }, playerCount, connections: playerCount ?? 0 }, `${PATH}?tab=details`)
    expect(screen.getByRole('region', { name: 'Instance Details' })).toHaveTextContent(count)
    expect(card('Status')).toHaveTextContent(connections)
  },
)

test('§14 a deployment with drain settings offers to drain an instance before a stop or restart', async () => {
  const { user, console } = await shown({ canDrain: true })
  expect(
    within(power())
      .getAllByRole('button')
      .map((button) => button.textContent),
  ).toEqual(['Start', 'Restart', 'Drain and restart', 'Drain and stop', 'Stop', 'Kill'])
  for (const label of ['Drain and restart', 'Drain and stop'])
    await user.click(screen.getByRole('button', { name: label }))
  expect(console.sent).toEqual([
    { type: 'power', action: 'drainAndRestart' },
    { type: 'power', action: 'drainAndStop' },
  ])
})

test('§14 a draining instance shows its state and cannot be drained again', async () => {
  const { user, console } = await shown({ canDrain: true, draining: true, connections: 2 }, `${PATH}?tab=details`)
  expect(card('Status')).toHaveTextContent('2 connections, draining')
  expect(screen.getByRole('region', { name: 'Instance Details' })).toHaveTextContent('DrainingIt gets no new players')
  await user.click(screen.getByRole('button', { name: 'Drain and stop' }))
  expect(console.sent).toEqual([])
})

test('§14 Details shows the warnings of the instance', async () => {
  await shown(
    { warnings: ['The instance is ready but does not listen on port 25565: no program does.'] },
    `${PATH}?tab=details`,
  )
  expect(screen.getByRole('region', { name: 'Instance Details' })).toHaveTextContent(
    'WarningThe instance is ready but does not listen on port 25565: no program does.',
  )
})

test('§12 Details shows limits that are not enforced', async () => {
  const warnings = ['cpu', 'memory'].map(
    (limit) => `resources.${limit} (1) is not enforced on this machine: control groups cannot be written here.`,
  )
  await shown({ state: 'STOPPED', warnings }, `${PATH}?tab=details`)
  for (const warning of warnings)
    expect(screen.getByRole('region', { name: 'Instance Details' })).toHaveTextContent(`Warning${warning}`)
})

test('the status card counts down to the next restart until the instance is starting', async () => {
  const { console } = await shown({ state: 'STOPPED', retry: { inMs: 8000, attempt: 3, of: 5 } })
  expect(within(card('Status')).getByText('Restarting in 8 s, try 3 of 5')).toHaveClass('state', 'changing')
  act(() => console.receive({ type: 'power', content: 'STARTING' }))
  await waitFor(() => expect(card('Status')).toHaveTextContent('StatusStarting Up'))
})

test('a late start is shown on the status card and in Details until the instance is ready', async () => {
  const lateStart = { afterSeconds: 300, waitingFor: 'a console line that matches Done \\(' }
  const { console } = await shown({ state: 'STARTING', lateStart }, `${PATH}?tab=details`)
  expect(card('Status')).toHaveTextContent('StatusStarting UpNot ready after 300 s')
  expect(screen.getByRole('region', { name: 'Instance Details' })).toHaveTextContent(
    'Not ready yetAfter 300 s it still waits for a console line that matches Done \\(',
  )
  act(() => console.receive({ type: 'power', content: 'RUNNING' }))
  await waitFor(() => expect(card('Status')).toHaveTextContent('StatusOnline0 connections'))
})

test('Details shows only pod name, IP and player count when the server sends no other fields', async () => {
  await shown({}, `${PATH}?tab=details`)
  expect(screen.getAllByRole('term').map((term) => term.textContent)).toEqual(['Pod name', 'IP', 'Player count'])
  expect(screen.queryByText('Crash details')).toBeNull()
})

test('Details shows port, start time, restarts, last exit and the reason for a block', async () => {
  const lastExit = { code: 3, signal: null, at: 1_700_000_000_000, reason: 'Ended by itself with exit code 3' }
  await shown(
    { port: 25_567, startedAt: 1_700_000_000_000, restarts: 2, lastExit, blockedReason: 'It crashed 5 times' },
    `${PATH}?tab=details`,
  )
  const details = screen.getByRole('region', { name: 'Instance Details' })
  expect(details).toHaveTextContent('IP10.0.0.1Port25567')
  expect(details).toHaveTextContent(`Running since${new Date(1_700_000_000_000).toLocaleString()}`)
  expect(details).toHaveTextContent('Restarts after crashes2')
  expect(details).toHaveTextContent('Last exit code3')
  expect(details).toHaveTextContent('Ended by itself with exit code 3')
  expect(details).toHaveTextContent('Blocked becauseIt crashed 5 times')
})

test('the crash details are loaded on demand, shown as text and downloaded unchanged', async () => {
  jest.spyOn(Element.prototype, 'scrollHeight', 'get').mockReturnValue(700)
  const shownTo = jest.fn()
  Element.prototype.scrollIntoView = function () {
    shownTo(this)
  }
  const { user, network } = await shown({ crashedAt: 1_700_000_000_000 }, `${PATH}?tab=details`)
  const capsule = {
    exit: { code: 3, signal: null, at: 1, reason: 'Out of memory' },
    lines: [{ seq: 1, type: 'error', content: '\u001b[31m<b>boom</b>\u001b[0m' }],
    cpu: [],
    memory: [],
  }
  const call = network.get(`${CALL}/${lobby.uid}/crash`).answers(503, { message: 'The state is away' })
  expect(call.calls).toHaveLength(0)
  await user.click(screen.getByRole('button', { name: 'Show' }))
  expect(await screen.findByRole('alert')).toHaveTextContent('The state is away')
  network.get(`${CALL}/${lobby.uid}/crash`).answers(capsule)
  await user.click(screen.getByRole('button', { name: 'Show' }))
  expect(await screen.findByText('<b>boom</b>')).toBeVisible()
  expect(screen.getByText('Out of memory')).toBeVisible()
  expect(screen.getByLabelText('The last 1 lines').scrollTop).toBe(700)
  expect(shownTo.mock.calls).toEqual([[screen.getByLabelText('The last 1 lines')]])
  // Returning to the tab does not scroll again.
  await user.click(screen.getByRole('tab', { name: 'Console' }))
  await user.click(screen.getByRole('tab', { name: 'Details' }))
  expect(screen.getByText('<b>boom</b>')).toBeVisible()
  expect(shownTo).toHaveBeenCalledTimes(1)

  const saved: Blob[] = []
  URL.createObjectURL = (blob) => {
    saved.push(blob as Blob)
    return '#'
  }
  URL.revokeObjectURL = () => {}
  await user.click(screen.getByRole('button', { name: 'Download' }))
  expect(JSON.parse(await saved[0]!.text())).toEqual(capsule)
})
