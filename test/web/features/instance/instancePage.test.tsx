import { act, screen, waitFor, within } from '@testing-library/react'
import type { Instance } from '../../../../src/contract/instance'
import { deploymentOf, instanceOf } from '../../../support/web/factories'
import { fakeClock, pass } from '../../../support/web/fakeClock'
import { lobby, PATH, CALL, instancePage, card, power, buttonsIn } from '../../../support/web/instancePage'
import { navigate } from '../../../support/web/navigate'
import { network } from '../../../support/web/network'
import { renderApp } from '../../../support/web/renderApp'

afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

test('§2 the instance page has a header, four cards, three tabs and four power buttons', async () => {
  const { user, network } = await instancePage({
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
  expect(buttonsIn(power())).toEqual(['Start', 'Restart', 'Stop', 'Kill'])
  network.shows([])
  await user.click(screen.getByRole('link', { name: 'Back to home' }))
  expect(window.location.pathname).toBe('/')
})

test('a breadcrumb leads to the overview and the deployments, and links to the files and the configuration', async () => {
  await instancePage({ dataDirectory: '/games/the lobby' })
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
  await instancePage({
    state: 'BLOCKED',
    blockedReason: 'Jar file not found! Expected path: /nfsshare/lobby/server.jar',
  })
  await waitFor(() => expect(screen.queryByRole('link', { name: 'Files of lobby' })).toBeNull())
  expect(screen.queryByRole('link', { name: 'Configuration of lobby' })).toBeNull()
  expect(within(screen.getByRole('status', { name: 'Blocked' })).queryAllByRole('link')).toEqual([])
})

test("§2 an unknown uptime reads '0s'", async () => {
  await instancePage({ uptime: '' })
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
  const { network } = await instancePage()
  const proxy = instanceOf('0b55aa-proxy')
  const { release } = network.get('/api/deployments/proxy/instances').answersLater({ instances: [proxy] })
  navigate(`/instance/proxy/${proxy.uid}`, { instance: proxy })
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
  const { call, network } = await instancePage()
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
  const { network } = await instancePage()
  network.get(CALL).answers(503, { message: 'The state is away' })
  await pass(3100)
  expect(await screen.findByText('The state is away. Showing the last known state.')).toBeVisible()
  expect(card('Status')).toHaveTextContent('Online')
})

test('while the cluster does not answer, the page says how old the state is that it shows', async () => {
  fakeClock()
  const { network } = await instancePage({ clusterSilentSince: Date.now() - 330_000 })
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
  await instancePage({ state: 'EXPLODED' as Instance['state'] })
  expect(within(card('Status')).getByRole('alert')).toHaveTextContent('Unknown instance state: EXPLODED')
  expect(screen.getByRole('textbox', { name: 'Command' })).toBeVisible()
})

test('a stopped instance shows no usage, even before the next response', async () => {
  const { console } = await instancePage({ connections: 3, uptime: '52s', cpu: 12, memory: { used: 0.04, total: 2 } })
  act(() => console.receive({ type: 'power', content: 'STOPPED' }))
  await waitFor(() => expect(card('Status')).toHaveTextContent('StatusOffline0 connections'))
  expect(card('Uptime')).toHaveTextContent('Uptime0s')
  expect(card('CPU Usage')).toHaveTextContent('0%of 100%')
  expect(card('Memory Usage')).toHaveTextContent('0/2 GiB')
})

test('§4 switching to another instance reconnects the console after 100 ms', async () => {
  fakeClock()
  const { console } = await instancePage()
  navigate('/instance/lobby/uid-77e0d4-lobby')
  await screen.findByRole('heading', { level: 1, name: '77e0d4-lobby' })
  expect(console.closed).toBe(1)
  await pass(0)
  expect(console.urls).toHaveLength(1)
  await pass(100)
  expect(console.urls).toEqual(
    ['lobby/pod-3fa2c1-lobby', 'lobby/pod-77e0d4-lobby'].map((path) => `ws://localhost/api/logs/${path}`),
  )
})

test('the selected tab is in the URL, follows arrow keys and survives a reload', async () => {
  const { user } = await instancePage({}, `${PATH}?tab=details`)
  expect(screen.getByRole('tab', { name: 'Details' })).toHaveAttribute('aria-selected', 'true')
  expect(screen.getByRole('heading', { name: 'Instance Details' })).toBeVisible()
  screen.getByRole('tab', { name: 'Details' }).focus()
  await user.keyboard('{ArrowRight}')
  expect(screen.getByRole('tab', { name: 'Console' })).toHaveFocus()
  expect(window.location.search).toBe('')
  await user.keyboard('{End}')
  expect(window.location.search).toBe('?tab=details')
})

test('the status card counts down to the next restart until the instance is starting', async () => {
  const { console } = await instancePage({ state: 'STOPPED', retry: { inMs: 8000, attempt: 3, of: 5 } })
  expect(within(card('Status')).getByText('Restarting in 8 s, try 3 of 5')).toHaveClass('state', 'changing')
  act(() => console.receive({ type: 'power', content: 'STARTING' }))
  await waitFor(() => expect(card('Status')).toHaveTextContent('StatusStarting Up'))
})
