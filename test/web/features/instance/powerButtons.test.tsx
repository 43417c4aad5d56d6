import { act, screen, waitFor, within } from '@testing-library/react'
import { api } from '../../../../src/web/api/api'
import { instancesApi } from '../../../../src/web/api/instances'
import { deploymentOf } from '../../../support/web/factories'
import { fakeClock, pass } from '../../../support/web/fakeClock'
import { lobby, PATH, instancePage, card, power, buttonsIn } from '../../../support/web/instancePage'
import { renderApp } from '../../../support/web/renderApp'

afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

test.each([
  ['STARTING', ['Start']],
  ['RUNNING', ['Start']],
  ['BLOCKED', []],
  ['STOPPING', ['Restart', 'Stop']],
  ['STOPPED', ['Restart', 'Stop', 'Kill']],
] as const)('§4 in state %s the disabled power buttons are %j', async (state, disabled) => {
  await instancePage({ state })
  const buttons = within(power()).getAllByRole('button')
  expect(
    buttons.filter((button) => button.getAttribute('aria-disabled') === 'true').map((button) => button.textContent),
  ).toEqual(disabled)
})

test('a disabled power button says why', async () => {
  const { console } = await instancePage()
  const start = within(power()).getByRole('button', { name: 'Start' })
  expect(start).toHaveAccessibleDescription('It is already running')
  expect(within(power()).getByRole('button', { name: 'Kill' })).not.toHaveAttribute('title')
  act(() => console.receive({ type: 'power', content: 'STOPPED' }))
  await waitFor(() => expect(start).not.toHaveAttribute('title'))
  expect(within(power()).getByRole('button', { name: 'Kill' })).toHaveAccessibleDescription('It is already stopped')
  expect(within(power()).getByRole('button', { name: 'Restart' })).toHaveAccessibleDescription('It is not running')
})

test('§4 a disabled power button keeps focus and sends nothing', async () => {
  const { user, console } = await instancePage()
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

test('§2 Start and Restart are hidden when the type is process', async () => {
  await instancePage({ type: 'process' })
  expect(buttonsIn(power())).toEqual(['Stop', 'Kill'])
})

test.each([
  ['Start', 'STOPPED', 'start'],
  ['Restart', 'RUNNING', 'restart'],
  ['Stop', 'RUNNING', 'stop'],
] as const)('§7 %s is sent over the console channel', async (label, state, action) => {
  const { user, console } = await instancePage({ state })
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
  const { console, network, store } = await instancePage()
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

test('§4 Kill asks for confirmation, is sent, and returns home after 1 s', async () => {
  fakeClock()
  const { user, console, network } = await instancePage()
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

test('leaving the page closes the question of Kill, which must not appear for another instance', async () => {
  const { user, network, store } = await instancePage()
  network.shows([])
  await user.click(screen.getByRole('button', { name: 'Kill' }))
  act(() => window.history.pushState(null, '', '/'))
  act(() => void window.dispatchEvent(new PopStateEvent('popstate')))
  await screen.findByRole('heading', { name: 'Network Overview' })
  expect(store.getState().instance?.killAsked).toBe(false)
})

test('cancelling Kill sends nothing and stays on the page', async () => {
  fakeClock()
  const { user, console } = await instancePage()
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
  const { user, console: far } = await instancePage()
  act(() => far.listener?.closed(1006))
  await user.click(screen.getByRole('button', { name: 'Kill' }))
  await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Kill' }))
  await pass(2000)
  expect(window.location.pathname).toBe(PATH)
})

test('§14 a deployment with drain settings offers to drain an instance before a stop or restart', async () => {
  const { user, console } = await instancePage({ canDrain: true })
  expect(buttonsIn(power())).toEqual(['Start', 'Restart', 'Drain and restart', 'Drain and stop', 'Stop', 'Kill'])
  for (const label of ['Drain and restart', 'Drain and stop'])
    await user.click(screen.getByRole('button', { name: label }))
  expect(console.sent).toEqual([
    { type: 'power', action: 'drainAndRestart' },
    { type: 'power', action: 'drainAndStop' },
  ])
})

test('§14 a draining instance shows its state and cannot be drained again', async () => {
  const { user, console } = await instancePage(
    { canDrain: true, draining: true, connections: 2 },
    `${PATH}?tab=details`,
  )
  expect(card('Status')).toHaveTextContent('2 connections, draining')
  expect(screen.getByRole('region', { name: 'Instance Details' })).toHaveTextContent('DrainingIt gets no new players')
  await user.click(screen.getByRole('button', { name: 'Drain and stop' }))
  expect(console.sent).toEqual([])
})
