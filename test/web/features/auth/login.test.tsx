import { screen, waitFor, within } from '@testing-library/react'
import { HttpResponse } from 'msw'
import { selectOrigin, selectSignedIn } from '../../../../src/web/features/auth/sessionSlice'
import { tokenOf } from '../../../support/web/factories'
import { renderApp } from '../../../support/web/renderApp'

type Rendered = ReturnType<typeof renderApp>

async function enterCredentials({ user }: Rendered) {
  await user.type(await screen.findByLabelText('Username'), 'ann')
  await user.type(screen.getByLabelText('Password'), 'correct horse')
  await user.click(screen.getByRole('button', { name: 'Sign In' }))
}

/** Prepares the responses to both steps. */
const accepts = ({ network }: Rendered, { token = tokenOf('ann'), isAdmin = 0 } = {}) => ({
  login: network.post('/api/auth/login').answers({ sessionToken: 'step-1' }),
  verify: network.post('/api/auth/verify-login').answers({ token, isAdmin }),
})

async function enterCode({ user }: Rendered, code = '123456') {
  await user.type(await screen.findByLabelText('Verification code'), code)
  await user.click(screen.getByRole('button', { name: 'Verify Code' }))
}

test('§2 login asks for username and password, then for the code, and then shows the overview', async () => {
  const rendered = renderApp('/login')
  const { network, store, services } = rendered
  const { login, verify } = accepts(rendered, { isAdmin: 1 })
  network.shows([])

  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  await enterCredentials(rendered)
  await enterCode(rendered)

  expect(await screen.findByRole('heading', { name: 'Network Overview' })).toBeVisible()
  expect(login.calls).toMatchObject([{ body: { username: 'ann', password: 'correct horse' }, authorization: null }])
  expect(verify.calls[0]?.body).toEqual({ username: 'ann', token: '123456', sessionToken: 'step-1' })
  expect(services.jar.get('isAdmin')).toBe('1')
  expect(services.stored.has('sessionToken')).toBe(false)
  expect(selectSignedIn(store.getState())).toBe(true)
})

test('§3 the state contains no token and no password after signing in', async () => {
  const rendered = renderApp('/login')
  const token = tokenOf('ann')
  accepts(rendered, { token })
  rendered.network.shows([])
  await enterCredentials(rendered)
  await enterCode(rendered)
  await screen.findByRole('heading', { name: 'Network Overview' })

  const state = JSON.stringify(rendered.store.getState())
  expect(state).not.toContain(token)
  expect(state).not.toContain('step-1')
  expect(state).not.toContain('correct horse')
})

test.each([
  ['the server message', 400, { message: 'Wrong username or password' }, 'Wrong username or password'],
  ['the product text when the server has none', 500, {}, 'login failed please check your credentials'],
  ['the product text when it is a 401 without a message', 401, {}, 'login failed please check your credentials'],
])('§8 a failed login shows %s', async (_case, status, body, text) => {
  const rendered = renderApp('/login')
  rendered.network.post('/api/auth/login').answers(status, body)
  await enterCredentials(rendered)
  expect(await screen.findByRole('alert')).toHaveTextContent(text)
  expect(screen.getByLabelText('Username')).toHaveValue('ann')
})

test('§8 an unreachable server shows the product text and the reason', async () => {
  const rendered = renderApp('/login')
  rendered.network.post('/api/auth/login').isUnreachable()
  await enterCredentials(rendered)
  const alert = await screen.findByRole('alert')
  expect(alert).toHaveTextContent('login failed please check your credentials')
  expect(alert).toHaveTextContent('The server could not be reached.')
})

test.each([
  ['a refusal within a 200', 200, {}, 'invalid verification code'],
  ['the server message', 400, { message: 'That code was used already' }, 'That code was used already'],
  ['the product text otherwise', 502, {}, 'verification failed please try again'],
  ['the message of a 401', 401, { error: 'No such sign-in' }, 'No such sign-in'],
])('§8 a failed code shows %s, keeps the step and clears the field', async (_case, status, body, text) => {
  const rendered = renderApp('/login')
  rendered.network.post('/api/auth/login').answers({ sessionToken: 'step-1' })
  rendered.network.post('/api/auth/verify-login').answers(status, body)
  await enterCredentials(rendered)
  await enterCode(rendered)
  expect(await screen.findByRole('alert')).toHaveTextContent(text)
  expect(screen.getByLabelText('Verification code')).toHaveValue('')
  expect(screen.getByLabelText('Verification code')).toHaveFocus()
})

test('§3 an unreadable session token does not sign the user in', async () => {
  const rendered = renderApp('/login')
  rendered.network.post('/api/auth/login').answers({ sessionToken: 'step-1' })
  rendered.network.post('/api/auth/verify-login').answers({ token: 'no-jwt', isAdmin: 1 })
  await enterCredentials(rendered)
  await enterCode(rendered)
  expect(await screen.findByRole('alert')).toHaveTextContent('invalid verification code')
  expect(rendered.services.jar.size).toBe(0)
})

test('a new session that seems expired because the device clock is days ahead reports the clock difference', async () => {
  const server = Date.now() - 9 * 86_400_000
  const rendered = renderApp('/login')
  rendered.network.post('/api/auth/login').answers({ sessionToken: 'step-1' })
  const token = tokenOf('ann', { expiresAt: server + 7 * 86_400_000 })
  rendered.network
    .post('/api/auth/verify-login')
    .answersWith(() =>
      HttpResponse.json(
        { success: true, data: { token, isAdmin: 1 } },
        { headers: { date: new Date(server).toUTCString() } },
      ),
    )
  await enterCredentials(rendered)
  await enterCode(rendered)
  expect(await screen.findByRole('alert')).toHaveTextContent(
    "The clock of this device differs from the server's by 9 days. Set it right, then sign in again.",
  )
  expect(rendered.services.jar.size).toBe(0)
})

test('§5 the code field accepts six digits and drops other characters', async () => {
  const rendered = renderApp('/login')
  rendered.network.post('/api/auth/login').answers({ sessionToken: 'step-1' })
  await enterCredentials(rendered)
  const field = await screen.findByLabelText('Verification code')
  await rendered.user.click(field)
  await rendered.user.paste(' 12x3 4567 8')
  expect(field).toHaveValue('123456')
})

test('§5 login requires username, password and code before it sends a request', async () => {
  const rendered = renderApp('/login')
  const { user, network } = rendered
  const login = network.post('/api/auth/login').answers({ sessionToken: 'step-1' })
  const signIn = () => user.click(screen.getByRole('button', { name: 'Sign In' }))
  await user.type(await screen.findByLabelText('Username'), 'ann')
  await signIn()
  await user.clear(screen.getByLabelText('Username'))
  await user.type(screen.getByLabelText('Password'), 'correct horse')
  await signIn()
  await user.type(screen.getByLabelText('Username'), 'ann')
  await signIn()
  const code = await screen.findByLabelText('Verification code')
  expect(login.calls.map(({ body }) => body)).toEqual([{ username: 'ann', password: 'correct horse' }])

  const verify = network.post('/api/auth/verify-login').answers(400)
  for (const short of ['', '12345']) {
    await user.clear(code)
    if (short) await user.type(code, short)
    await user.click(screen.getByRole('button', { name: 'Verify Code' }))
  }
  expect(verify.calls).toHaveLength(0)
  await user.type(code, '6')
  await user.click(screen.getByRole('button', { name: 'Verify Code' }))
  await waitFor(() =>
    expect(verify.calls.map(({ body }) => body)).toEqual([
      { username: 'ann', token: '123456', sessionToken: 'step-1' },
    ]),
  )
})

test('§4 Back to Login returns to step 1 and clears the code', async () => {
  const rendered = renderApp('/login')
  const { user, network, services } = rendered
  network.post('/api/auth/login').answers({ sessionToken: 'step-1' })
  await enterCredentials(rendered)
  await user.type(await screen.findByLabelText('Verification code'), '123')
  expect(services.stored.has('sessionToken')).toBe(true)

  await user.click(screen.getByRole('button', { name: 'Back to Login' }))
  expect(screen.getByLabelText('Username')).toHaveValue('ann')
  expect(screen.getByLabelText('Password')).toHaveValue('')
  expect(services.stored.has('sessionToken')).toBe(false)

  await user.type(screen.getByLabelText('Password'), 'correct horse')
  await user.click(screen.getByRole('button', { name: 'Sign In' }))
  expect(await screen.findByLabelText('Verification code')).toHaveValue('')
})

test('§2 a reload between the two steps stays on the second step', async () => {
  const stored = { sessionToken: JSON.stringify({ username: 'ann', sessionToken: 'step-1', at: Date.now() - 60_000 }) }
  const rendered = renderApp('/login', { stored })
  const verify = rendered.network.post('/api/auth/verify-login').answers({ token: tokenOf('ann'), isAdmin: 0 })
  rendered.network.shows([])
  await enterCode(rendered)
  expect(await screen.findByRole('heading', { name: 'Network Overview' })).toBeVisible()
  expect(verify.calls[0]?.body).toEqual({ username: 'ann', token: '123456', sessionToken: 'step-1' })
})

test.each([
  ['is older than five minutes', JSON.stringify({ username: 'ann', sessionToken: 'x', at: Date.now() - 301_000 })],
  ['is not JSON', 'x'],
  ['is JSON of another kind', 'null'],
])('§2 a stored first step that %s is not resumed', async (_case, sessionToken) => {
  renderApp('/login', { stored: { sessionToken } })
  expect(await screen.findByLabelText('Password')).toBeVisible()
})

test('§2 Forgot your password? opens a modal that names the system administrator', async () => {
  const { user } = renderApp('/login')
  const opener = await screen.findByRole('button', { name: 'Forgot your password?' })
  await user.click(opener)
  const dialog = await screen.findByRole('dialog', { name: 'Forgot your password?' })
  expect(dialog).toHaveTextContent('contact your system administrator')
  await user.click(within(dialog).getAllByRole('button', { name: 'Close' })[0]!)
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
  expect(opener).toHaveFocus()
})

test('§2 Create Account leads to /register', async () => {
  const { user } = renderApp('/login')
  await user.click(await screen.findByRole('link', { name: 'Create Account' }))
  expect(await screen.findByRole('heading', { name: 'Create Account' })).toBeVisible()
})

test('§2 a protected page remembers its path and query across the login', async () => {
  const rendered = renderApp('/files/lobby?sort=size')
  rendered.network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null })
  accepts(rendered)
  await screen.findByLabelText('Username')
  expect(selectOrigin(rendered.store.getState())).toBe('/files/lobby?sort=size')
  // The history entry survives a reload.
  expect((window.history.state as { usr: unknown }).usr).toEqual({ origin: '/files/lobby?sort=size' })
  await enterCredentials(rendered)
  await enterCode(rendered)
  expect(await screen.findByRole('heading', { name: 'Files' })).toBeVisible()
  expect(window.location.pathname + window.location.search).toBe('/files/lobby?sort=size')
})

test('§2 the origin survives a reload of the login page', async () => {
  const rendered = renderApp('/login', { historyState: { usr: { origin: '/databases?tab=sql' }, key: 'k', idx: 0 } })
  for (const type of ['sql', 'mongo']) rendered.network.get(`/api/database/${type}`).answers({ databases: [] })
  accepts(rendered)
  await enterCredentials(rendered)
  await enterCode(rendered)
  await screen.findByRole('heading', { name: 'Databases' })
  expect(window.location.pathname + window.location.search).toBe('/databases?tab=sql')
})

test('§2 login sends a signed-in user back to the origin', async () => {
  const rendered = renderApp('/login', {
    signedInAs: 'ann',
    historyState: { usr: { origin: '/databases?tab=sql' }, key: 'k', idx: 0 },
  })
  for (const type of ['sql', 'mongo']) rendered.network.get(`/api/database/${type}`).answers({ databases: [] })
  await screen.findByRole('heading', { name: 'Databases' })
  expect(window.location.pathname + window.location.search).toBe('/databases?tab=sql')
})

test('§2 login sends a signed-in user home', async () => {
  const { network } = renderApp('/login', { signedInAs: 'ann' })
  network.shows([])
  expect(await screen.findByRole('heading', { name: 'Network Overview' })).toBeVisible()
  expect(window.location.pathname).toBe('/')
})
