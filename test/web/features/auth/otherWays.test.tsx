import { screen, waitFor } from '@testing-library/react'
import { HttpResponse } from 'msw'
import { tokenOf } from '../../../support/web/factories'
import { network } from '../../../support/web/network'
import { installPasskeys, passkeyOptions, removePasskeys } from '../../../support/web/passkeys'
import { renderApp } from '../../../support/web/renderApp'

const signedIn = () => ({ token: tokenOf('1'), isAdmin: 0 })

/** @param step the step of the login page to open */
async function rendered(step: 'credentials' | 'code', { passkeys = true } = {}) {
  network.shows([])
  network.get('/api/auth/methods').answers({ passkeys })
  const app = renderApp('/login')
  if (step === 'code') {
    network.post('/api/auth/login').answers({ sessionToken: 'the-step' })
    await app.user.type(await screen.findByLabelText('Username'), 'anna')
    await app.user.type(screen.getByLabelText('Password'), 'the password')
    await app.user.click(screen.getByRole('button', { name: 'Sign In' }))
    await screen.findByRole('button', { name: 'Verify Code' })
  }
  return app
}

beforeEach(() => jest.spyOn(console, 'warn').mockReturnValue())
afterEach(() => {
  jest.restoreAllMocks()
  removePasskeys()
})

test('a passkey signs in alone, and the next login page starts empty', async () => {
  installPasskeys()
  const { user, store } = await rendered('credentials')
  const asked = network.post('/api/auth/passkey-login-options').answers({ options: passkeyOptions })
  const { calls } = network.post('/api/auth/passkey-login').answers(signedIn())
  await user.click(await screen.findByRole('button', { name: 'Sign in with a passkey' }))
  expect(await screen.findByRole('heading', { name: 'Network Overview' })).toBeVisible()
  expect(asked.calls.map(({ body }) => body)).toEqual([{}])
  expect(calls[0]!.body).toMatchObject({ response: { id: 'cHV0LW1l' } })
  await waitFor(() => expect(store.getState().login).toEqual({ step: 'credentials', username: '', forgotOpen: false }))
})

test('a passkey is the second step after the password', async () => {
  installPasskeys()
  const { user } = await rendered('code')
  network.post('/api/auth/passkey-options').answers({ options: passkeyOptions })
  const { calls } = network.post('/api/auth/verify-passkey').answers(signedIn())
  await user.click(screen.getByRole('button', { name: 'Use a passkey instead' }))
  expect(await screen.findByRole('heading', { name: 'Network Overview' })).toBeVisible()
  expect(calls[0]!.body).toMatchObject({ username: 'anna', sessionToken: 'the-step', response: { id: 'cHV0LW1l' } })
})

test('a recovery code is the second step, and the wrong codes before it are reported', async () => {
  const { user, store } = await rendered('code', { passkeys: false })
  expect(screen.queryByRole('button', { name: /passkey/ })).not.toBeInTheDocument()
  await user.click(screen.getByRole('button', { name: 'Use a recovery code' }))
  const field = await screen.findByLabelText('Recovery code')
  expect(field).toHaveFocus()
  network
    .post('/api/auth/verify-recovery-code')
    .answers(400, { code: 'INVALID_CODE', message: 'This recovery code is incorrect, or it has been used already.' })
  await user.type(field, 'AAAA-BBBB-CCCC-DDDD')
  await user.click(screen.getByRole('button', { name: 'Sign in with this code' }))
  expect(await screen.findByRole('alert')).toHaveTextContent('This recovery code is incorrect')
  const { calls } = network
    .post('/api/auth/verify-recovery-code')
    .answers({ ...signedIn(), wrongCodes: { count: 2, since: 1 } })
  await user.click(screen.getByRole('button', { name: 'Sign in with this code' }))
  expect(await screen.findByText(/^2 wrong codes since/)).toBeVisible()
  expect(calls.map(({ body }) => body)).toEqual([
    { username: 'anna', sessionToken: 'the-step', recoveryCode: 'AAAA-BBBB-CCCC-DDDD' },
  ])
  expect(JSON.stringify(store.getState())).not.toMatch(/AAAA-BBBB|the-step/)
})

test.each([
  ['NotAllowedError', 'No passkey was used: the request was cancelled, or it took too long.'],
  ['SecurityError', 'The browser allows no passkeys at this address.'],
])('when the browser gives no passkey (%s), the page says why and can try again', async (name, text) => {
  const { refuse } = installPasskeys()
  const { user } = await rendered('credentials')
  network.post('/api/auth/passkey-login-options').answers({ options: passkeyOptions })
  network.post('/api/auth/passkey-login').answers(signedIn())
  refuse(name)
  await user.click(await screen.findByRole('button', { name: 'Sign in with a passkey' }))
  expect(await screen.findByRole('alert')).toHaveTextContent(text)
  await user.click(screen.getByRole('button', { name: 'Sign in with a passkey' }))
  expect(await screen.findByRole('heading', { name: 'Network Overview' })).toBeVisible()
})

test('a passkey request of the previous step is aborted silently in the next step', async () => {
  const { user, store } = await rendered('credentials')
  let refuse = () => {}
  const refused = new Promise<void>((resolve) => (refuse = resolve))
  const { calls } = network.post('/api/auth/passkey-login-options').answersWith(async () => {
    await refused
    return HttpResponse.json({ success: false, message: 'Too late.' }, { status: 400 })
  })
  await user.click(await screen.findByRole('button', { name: 'Sign in with a passkey' }))
  expect(await screen.findByRole('button', { name: 'Waiting for the browser...' })).toBeVisible()
  network.post('/api/auth/login').answers({ sessionToken: 'the-step' })
  await user.type(screen.getByLabelText('Username'), 'anna')
  await user.type(screen.getByLabelText('Password'), 'the password{Enter}')
  expect(await screen.findByRole('button', { name: 'Use a passkey instead' })).toBeVisible()
  refuse()
  await waitFor(() => expect(JSON.stringify(store.getState().api.mutations)).toContain('Too late.'))
  expect(calls).toHaveLength(1)
  expect(screen.queryByRole('alert')).not.toBeInTheDocument()
})

test('a browser without passkeys shows why they cannot be used', async () => {
  const { user } = await rendered('credentials')
  network.post('/api/auth/passkey-login-options').answers({ options: passkeyOptions })
  await user.click(await screen.findByRole('button', { name: 'Sign in with a passkey' }))
  expect(await screen.findByRole('alert')).toHaveTextContent('This browser does not support passkeys.')
})

test.each([
  ['away', () => network.post('/api/auth/passkey-login-options').isUnreachable(), 'The server could not be reached.'],
  [
    'refusing the passkey',
    () => {
      network.post('/api/auth/passkey-login-options').answers({ options: passkeyOptions })
      network
        .post('/api/auth/passkey-login')
        .answers(400, { code: 'BAD_CREDENTIALS', message: 'This passkey was not accepted.' })
    },
    'This passkey was not accepted.',
  ],
])('the page reports a server that is %s, and the button can be used again', async (_state, prepare, text) => {
  installPasskeys()
  const { user } = await rendered('credentials')
  prepare()
  await user.click(await screen.findByRole('button', { name: 'Sign in with a passkey' }))
  expect(await screen.findByRole('alert')).toHaveTextContent(text)
  expect(screen.getByRole('button', { name: 'Sign in with a passkey' })).toHaveAttribute('aria-disabled', 'false')
})

test('the second step says that the account has no passkey for this address', async () => {
  installPasskeys()
  const { user } = await rendered('code')
  network
    .post('/api/auth/passkey-options')
    .answers(409, { code: 'CONFLICT', message: 'This account has no passkey for this address.' })
  await user.click(screen.getByRole('button', { name: 'Use a passkey instead' }))
  expect(await screen.findByRole('alert')).toHaveTextContent('This account has no passkey for this address.')
  expect(screen.getByRole('button', { name: 'Verify Code' })).toBeEnabled()
})
