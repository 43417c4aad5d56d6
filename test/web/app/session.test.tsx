import { act, screen, waitFor } from '@testing-library/react'
import { HttpResponse } from 'msw'
import { authApi } from '../../../src/web/api/signIn/auth'
import { selectOrigin, selectSignedIn } from '../../../src/web/features/auth/sessionSlice'
import { deploymentOf, instanceOf, tokenOf } from '../../support/web/factories'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'
import { setVisibility } from '../../support/web/visibility'

beforeEach(() => void network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null }))

const lobby = [{ deployment: deploymentOf('lobby'), instances: [instanceOf('3fa2c1-lobby')] }]

afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

test('§6 a 401 from any request ends the session and remembers the current page', async () => {
  const { store, network, services } = renderApp('/?filter=lobby', { signedInAs: 'ann', isAdmin: true })
  network.shows(lobby)
  network.get('/api/deployments').answers(401)
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(screen.getByText('Your session has ended. Please sign in again.')).toBeVisible()
  expect(selectOrigin(store.getState())).toBe('/?filter=lobby')
  expect(services.jar.size).toBe(0)
})

test('§6 a second 401 neither ends the session again nor overwrites the remembered page', async () => {
  const { store, network } = renderApp('/files?a=b', { signedInAs: 'ann' })
  network.post('/api/auth/logout').answers(401)
  const call = () => store.dispatch(authApi.endpoints.logout.initiate())
  await act(async () => Promise.all([call(), call()]))
  await screen.findByRole('heading', { name: 'Sign In' })
  await act(async () => call())
  expect(selectOrigin(store.getState())).toBe('/files?a=b')
})

test('§6 a 401 without a JSON body ends the session too', async () => {
  const { network, store } = renderApp('/', { signedInAs: 'ann' })
  network.shows(lobby)
  network.get('/api/deployments').answersRaw(401, '<html>nginx</html>')
  await screen.findByRole('heading', { name: 'Sign In' })
  expect(selectSignedIn(store.getState())).toBe(false)
})

test('a promotion or demotion takes effect with the next response, in the session and in the cookie', async () => {
  const { network, services } = renderApp('/', { signedInAs: 'ann' })
  const says = (role: string, answer: object = { success: true, data: { deployments: [] } }, status = 200) =>
    network
      .get('/api/deployments')
      .answersWith(() => HttpResponse.json(answer, { status, headers: { 'quarterdeck-role': role } }))
  network.shows([])
  await screen.findByRole('heading', { name: 'Network Overview' })
  expect(screen.queryByRole('link', { name: 'Admin' })).not.toBeInTheDocument()
  says('admin')
  expect(await screen.findByRole('link', { name: 'Admin' })).toBeVisible()
  expect(services.jar.get('isAdmin')).toBe('1')
  // Error responses report the role, too.
  says('user', { success: false, message: 'Not now' }, 503)
  await waitFor(() => expect(screen.queryByRole('link', { name: 'Admin' })).not.toBeInTheDocument())
  expect(services.jar.get('isAdmin')).toBe('0')
})

test('a response without a role header leaves the role of the cookie unchanged', async () => {
  const { network, services } = renderApp('/', { signedInAs: 'ann', isAdmin: true })
  network.shows(lobby)
  await screen.findByText('3fa2c1-lobby')
  expect(screen.getByRole('link', { name: 'Admin' })).toBeVisible()
  expect(services.jar.get('isAdmin')).toBe('1')
})

test('a response for an older token does not change the role of the new session', async () => {
  const { network, services } = renderApp('/', { signedInAs: 'ann' })
  network.shows(lobby)
  network.get('/api/deployments').answersWith(() => {
    services.jar.set('token', tokenOf('ann', { id: 'newer' }))
    return HttpResponse.json({ message: 'Who are you?' }, { status: 503, headers: { 'quarterdeck-role': 'admin' } })
  })
  expect(await screen.findByText('Who are you?')).toBeVisible()
  expect(screen.queryByRole('link', { name: 'Admin' })).not.toBeInTheDocument()
  expect(services.jar.get('isAdmin')).toBe('0')
})

test.each([403, 404, 429, 500, 503])('decisions §1: a %i response never ends the session', async (status) => {
  const { network, store, services } = renderApp('/', { signedInAs: 'ann' })
  network.shows(lobby)
  network.get('/api/deployments').answers(status, { message: 'Not now' })
  expect(await screen.findByText('Not now')).toBeVisible()
  expect(selectSignedIn(store.getState())).toBe(true)
  expect(services.jar.has('token')).toBe(true)
})

test('§6 a 401 for an older token does not end the session of a newer token', async () => {
  const { network, store, services } = renderApp('/', { signedInAs: 'ann' })
  network.shows(lobby)
  network.get('/api/deployments').answersWith(() => {
    // Another tab signs in again while the request is in flight.
    services.jar.set('token', tokenOf('ann', { id: 'newer' }))
    return HttpResponse.json({ message: 'Who are you?' }, { status: 401 })
  })
  expect(await screen.findByText('Who are you?')).toBeVisible()
  expect(selectSignedIn(store.getState())).toBe(true)
  expect(services.jar.has('token')).toBe(true)
})

test('§6 every request carries the bearer token from the cookie', async () => {
  const { network, services } = renderApp('/', { signedInAs: 'ann' })
  const heartbeat = network.shows(lobby)
  await screen.findByText('3fa2c1-lobby')
  expect(heartbeat.calls[0]?.authorization).toBe(`Bearer ${services.jar.get('token')}`)
})

test.each([
  ['has expired', tokenOf('ann', { expiresAt: Date.now() - 1000 })],
  ['cannot be read', 'no-jwt'],
])('§4 a token that %s starts no session and is deleted', async (_case, token) => {
  network.get('/api/health').answers({})
  const { services } = renderApp('/', { token })
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(await screen.findByText('Your session has ended. Please sign in again.')).toBeVisible()
  expect(screen.queryByText(/The clock of this device/)).not.toBeInTheDocument()
  expect(services.jar.size).toBe(0)
})

test('§4 the login page reports a device clock that is days off when the token seems expired', async () => {
  const { calls } = network
    .get('/api/health')
    .answersWith(
      () => new HttpResponse('{}', { headers: { date: new Date(Date.now() - 40 * 86_400_000).toUTCString() } }),
    )
  renderApp('/', { token: tokenOf('ann', { expiresAt: Date.now() - 33 * 86_400_000 }) })
  expect(
    await screen.findByText(
      "The clock of this device differs from the server's by 40 days. Set it right, then sign in again.",
    ),
  ).toBeVisible()
  expect(calls).toHaveLength(1)
})

test('§4 the session ends exactly when its token expires', async () => {
  jest.useFakeTimers({ advanceTimers: true })
  const { network, store, services } = renderApp('/files', {
    signedInAs: 'ann',
    expiresAt: Math.ceil(Date.now() / 1000) * 1000 + 3_600_000,
  })
  network.shows(lobby)
  expect(await screen.findByRole('heading', { level: 1, name: 'Files' })).toBeVisible()
  await act(() => jest.advanceTimersByTimeAsync(3_590_000))
  expect(selectSignedIn(store.getState())).toBe(true)
  await act(() => jest.advanceTimersByTimeAsync(11_000))
  expect(selectSignedIn(store.getState())).toBe(false)
  expect(await screen.findByText('Your session has ended. Please sign in again.')).toBeVisible()
  expect(services.jar.size).toBe(0)
})

test('§7 a successful logout clears the session and goes to /login without remembering the page', async () => {
  const { network, store, services, user } = renderApp('/files/secret', { signedInAs: 'ann' })
  const logout = network.post('/api/auth/logout').answers({})
  await user.click(await screen.findByRole('button', { name: 'Logout' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(logout.calls[0]?.authorization).toMatch(/^Bearer /)
  expect(services.jar.size).toBe(0)
  expect(selectOrigin(store.getState())).toBeNull()
  expect((window.history.state as { usr: unknown }).usr).toBeNull()
  expect(screen.queryByText(/session has ended/)).not.toBeInTheDocument()
})

test('§7 a failed logout keeps the session and shows the error', async () => {
  const { network, store, user } = renderApp('/files', { signedInAs: 'ann' })
  network.post('/api/auth/logout').answers(503, { message: 'The database is not reachable' })
  await user.click(await screen.findByRole('button', { name: 'Logout' }))
  expect(await screen.findByText('The database is not reachable')).toBeVisible()
  expect(selectSignedIn(store.getState())).toBe(true)
})

test('security 6: the data shown to one user is gone from the store before the next user signs in', async () => {
  const { network, store, user } = renderApp('/', { signedInAs: 'ann' })
  network.shows(lobby)
  network.post('/api/auth/logout').answers({})
  await screen.findByText('3fa2c1-lobby')
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await screen.findByRole('heading', { name: 'Sign In' })
  expect(JSON.stringify(store.getState())).not.toContain('3fa2c1-lobby')
})

test('§6 a logout in another tab takes effect when this tab becomes visible', async () => {
  const { services } = renderApp('/files', { signedInAs: 'ann' })
  await screen.findByRole('heading', { level: 1, name: 'Files' })
  setVisibility('hidden')
  services.jar.clear()
  setVisibility('visible')
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(screen.getByText('You were signed out in another tab.')).toBeVisible()
})

test('§6 a logout in another tab closes the real-time connection, which a visible tab notices', async () => {
  const { services, realtime } = renderApp('/files', { signedInAs: 'ann' })
  await screen.findByRole('heading', { level: 1, name: 'Files' })
  await waitFor(() => expect(realtime.opened).toBe(1))
  act(() => realtime.listener?.disconnected())
  // The other tab receives its response a moment later.
  services.jar.clear()
  expect(await screen.findByRole('heading', { name: 'Sign In' }, { timeout: 10_000 })).toBeVisible()
  expect(screen.getByText('You were signed out in another tab.')).toBeVisible()
})

test('§6 a logout in another tab takes effect at the next request, which is not sent', async () => {
  const { network, services, user } = renderApp('/files', { signedInAs: 'ann' })
  const heartbeat = network.shows(lobby)
  await screen.findByRole('heading', { level: 1, name: 'Files' })
  services.jar.clear()
  await user.click(screen.getByRole('link', { name: 'Overview' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(heartbeat.calls).toHaveLength(0)
})

test('§6 a tab switches to the user who signed in in another tab', async () => {
  const { network, store, services } = renderApp('/', { signedInAs: 'ann', isAdmin: true })
  network.shows(lobby)
  await screen.findByText('3fa2c1-lobby')
  expect(screen.getByRole('link', { name: 'Admin' })).toBeVisible()
  setVisibility('hidden')
  const token = tokenOf('bob')
  services.jar.set('token', token)
  services.jar.set('isAdmin', '0')
  const heartbeat = network.shows([{ deployment: deploymentOf('discord-bot') }])
  setVisibility('visible')
  expect(await screen.findByRole('heading', { name: /^discord-bot/ })).toBeVisible()
  expect(screen.queryByRole('link', { name: 'Admin' })).not.toBeInTheDocument()
  expect(heartbeat.calls[0]?.authorization).toBe(`Bearer ${token}`)
  expect(services.jar.get('token')).toBe(token)
  expect(selectSignedIn(store.getState())).toBe(true)
})

test('§4 a session renewed in another tab continues when the old token expires', async () => {
  jest.useFakeTimers({ advanceTimers: true })
  const { store, services } = renderApp('/files', { signedInAs: 'ann', expiresAt: Date.now() + 60_000 })
  await screen.findByRole('heading', { level: 1, name: 'Files' })
  const token = tokenOf('ann', { id: 'renewed', expiresAt: Date.now() + 3_600_000 })
  services.jar.set('token', token)
  await act(() => jest.advanceTimersByTimeAsync(61_000))
  expect(selectSignedIn(store.getState())).toBe(true)
  expect(services.jar.get('token')).toBe(token)
  expect(await screen.findByRole('heading', { level: 1, name: 'Files' })).toBeVisible()
})

test.each([
  ['/files', () => screen.findByRole('heading', { level: 1, name: 'Files' })],
  [`/consoles?instances=${lobby[0]!.instances[0]!.uid}`, () => screen.findByRole('region', { name: /^Console of/ })],
])('after another sign-in in another tab, %s is shown as after a reload', async (address, shown) => {
  const { network, services } = renderApp(address, { signedInAs: 'ann' })
  network.shows(lobby)
  await shown()
  setVisibility('hidden')
  services.jar.set('token', tokenOf('bob'))
  setVisibility('visible')
  expect(await shown()).toBeVisible()
})

test('§6 a login in another tab takes effect when this tab becomes visible', async () => {
  const { network, services } = renderApp('/login')
  network.shows(lobby)
  await screen.findByLabelText('Username')
  setVisibility('hidden')
  services.jar.set('token', tokenOf('ann'))
  setVisibility('visible')
  expect(await screen.findByText('3fa2c1-lobby')).toBeVisible()
})
