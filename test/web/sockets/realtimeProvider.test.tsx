import { act, fireEvent, render, screen, waitFor } from '@testing-library/react'
import { useRealtime } from '../../../src/web/sockets/RealtimeProvider'
import { deploymentOf, userOf } from '../../support/web/factories'
import { fakeClock, pass } from '../../support/web/fakeClock'
import { navigate } from '../../support/web/navigate'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'

afterEach(() => {
  jest.useRealTimers()
})

beforeEach(() => void network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null }))

function Probe() {
  useRealtime()
  return null
}

test('§8 using the socket facility outside its provider raises an error', () => {
  const error = jest.spyOn(console, 'error').mockImplementation(() => {})
  expect(() => render(<Probe />)).toThrow('useRealtime must be used inside a RealtimeProvider')
  error.mockRestore()
})

test('§4 the header shows whether the real-time connection is established', async () => {
  const { realtime } = renderApp('/files', { signedInAs: 'ann' })
  expect(await screen.findByRole('img', { name: 'Real-time connection: disconnected' })).toBeVisible()
  act(() => void realtime.listener?.connected())
  expect(await screen.findByRole('img', { name: 'Real-time connection: connected' })).toBeVisible()
  act(() => void realtime.listener?.disconnected())
  expect(await screen.findByRole('img', { name: 'Real-time connection: disconnected' })).toBeVisible()
})

test('stale data is refetched on reconnect, not on the first connect', async () => {
  // Fake timers keep polls from running.
  fakeClock()
  const { network, realtime, store } = renderApp('/', { signedInAs: 'ann' })
  const heartbeat = network.shows([{ deployment: deploymentOf('lobby') }])
  await screen.findByRole('heading', { name: /^lobby/ })
  act(() => void realtime.listener?.connected())
  act(() => void realtime.listener?.disconnected())
  await act(async () => {})
  // The overview, and the rights of the user.
  expect(Object.values(store.getState().api.queries).map((query) => query?.status)).toEqual(['fulfilled', 'fulfilled'])
  expect(heartbeat.calls).toHaveLength(1)
  act(() => void realtime.listener?.connected())
  await waitFor(() => expect(heartbeat.calls).toHaveLength(2))
})

test('every page shows the start time of a lost connection after 2 s, until it is restored', async () => {
  fakeClock()
  jest.setSystemTime(new Date(2026, 10, 22, 12, 3))
  const { realtime } = renderApp('/no/such/page', { signedInAs: 'ann', expiresAt: Date.now() + 3_600_000 })
  expect(await screen.findByRole('heading', { name: 'Page Not Found' })).toBeVisible()
  act(() => void realtime.listener?.connected())
  act(() => void realtime.listener?.disconnected())
  await pass(1900)
  expect(screen.queryByText(/^Not connected/)).not.toBeInTheDocument()
  await pass(200)
  const line = () => screen.getByText(/^Not connected/)
  expect(line().textContent).toMatch(/^Not connected since 12:03.PM\. Trying again …$/)
  // Further attempts fail.
  await pass(120_000)
  act(() => void realtime.listener?.disconnected())
  expect(line()).toHaveTextContent('12:03')
  act(() => void realtime.listener?.connected())
  expect(screen.queryByText(/^Not connected/)).not.toBeInTheDocument()
})

test('lists that failed to load are refetched on reconnect', async () => {
  const failing = network.get('/api/users').answers(503)
  const { realtime } = renderApp('/admin', { signedInAs: '1', isAdmin: true })
  expect(await screen.findByRole('heading', { name: 'Failed to load users' })).toBeVisible()
  act(() => void realtime.listener?.disconnected())
  expect(failing.calls).toHaveLength(1)
  network.get('/api/users').answers({ users: [userOf(1, 'ann', true)] })
  act(() => void realtime.listener?.connected())
  expect(await screen.findByText('ann')).toBeVisible()
})

test('a list whose request was lost is requested again every 5 s while it is shown, also without a reconnect', async () => {
  fakeClock()
  const lost = network.get('/api/users').isUnreachable()
  const { realtime } = renderApp('/admin', { signedInAs: '1', isAdmin: true })
  act(() => void realtime.listener?.connected())
  expect(await screen.findByRole('heading', { name: 'Failed to load users' })).toBeVisible()
  expect(lost.calls).toHaveLength(1)
  await pass(5000)
  expect(lost.calls).toHaveLength(2)
  expect(screen.getByRole('heading', { name: 'Failed to load users' })).toBeVisible()
  const answering = network.get('/api/users').answers({ users: [userOf(1, 'ann', true)] })
  await pass(5000)
  expect(await screen.findByText('ann')).toBeVisible()
  expect(answering.calls).toHaveLength(1)
})

test('a lost list that Retry also requested is requested again once per 5 s', async () => {
  fakeClock()
  const lost = network.get('/api/users').isUnreachable()
  renderApp('/admin', { signedInAs: '1', isAdmin: true })
  for (const times of [1, 2, 3]) {
    await waitFor(() => expect(lost.calls).toHaveLength(times))
    fireEvent.click(await screen.findByRole('button', { name: 'Retry' }))
  }
  await waitFor(() => expect(lost.calls).toHaveLength(4))
  await pass(5000)
  expect(lost.calls).toHaveLength(5)
})

test('a list that the server refused is not requested again before Retry', async () => {
  fakeClock()
  const refused = network.get('/api/users').answers(503)
  renderApp('/admin', { signedInAs: '1', isAdmin: true })
  expect(await screen.findByRole('heading', { name: 'Failed to load users' })).toBeVisible()
  await pass(20_000)
  expect(refused.calls).toHaveLength(1)
})

test('a lost request whose page was left is not sent again', async () => {
  fakeClock()
  const lost = network.get('/api/users').isUnreachable()
  renderApp('/admin', { signedInAs: '1', isAdmin: true })
  expect(await screen.findByRole('heading', { name: 'Failed to load users' })).toBeVisible()
  navigate('/files')
  await pass(20_000)
  expect(lost.calls).toHaveLength(1)
})
