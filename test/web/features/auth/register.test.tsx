import { screen, waitFor } from '@testing-library/react'
import { selectSignedIn } from '../../../../src/web/features/auth/sessionSlice'
import { tokenOf } from '../../../support/web/factories'
import { renderApp } from '../../../support/web/renderApp'

const qrCode = 'data:image/png;base64,AAAA'
const success = 'Your account has been created successfully. You can now login with your credentials.'

type Rendered = ReturnType<typeof renderApp>

async function atStepTwo(path = '/register') {
  const rendered = renderApp(path)
  const invite = rendered.network.post('/api/auth/verify-invite').answers({ token: 'invite-token' })
  const field = await screen.findByLabelText('Invite code')
  if (!path.includes('?')) await rendered.user.type(field, 'INVITE-1')
  await rendered.user.click(screen.getByRole('button', { name: 'Continue' }))
  await screen.findByLabelText('Username')
  return { ...rendered, invite }
}

async function atStepThree(secret: { secret?: string } = { secret: 'JBSWY3DPEHPK3PXP' }) {
  const rendered = await atStepTwo()
  const register = rendered.network.post('/api/auth/register').answers({ qrCode, ...secret })
  await fillAccount(rendered)
  await screen.findByLabelText('Verification code')
  return { ...rendered, register }
}

async function fillAccount({ user }: Pick<Rendered, 'user'>, username = 'ann', password = 'correct horse') {
  await user.clear(screen.getByLabelText('Username'))
  await user.type(screen.getByLabelText('Username'), username)
  await user.clear(screen.getByLabelText('Password'))
  await user.type(screen.getByLabelText('Password'), password)
  await user.click(screen.getByRole('button', { name: 'Continue' }))
}

const enterCode = ({ user }: Pick<Rendered, 'user'>) => user.type(screen.getByLabelText('Verification code'), '123456')

test('§2 registration leads from invite to account to authenticator to success, and from there to the overview', async () => {
  const rendered = await atStepThree()
  const { invite, register, network, services, store, user } = rendered
  const verify = network.post('/api/auth/verify-registration').answers({ loginToken: tokenOf('ann'), isAdmin: 1 })
  network.shows([])
  await enterCode(rendered)

  expect(await screen.findByText(success)).toBeVisible()
  expect(screen.getByRole('status')).toHaveFocus()
  expect(invite.calls[0]?.body).toEqual({ inviteCode: 'INVITE-1' })
  expect(register.calls[0]?.body).toEqual({ username: 'ann', password: 'correct horse', inviteToken: 'invite-token' })
  expect(verify.calls[0]?.body).toEqual({ username: 'ann', token: '123456', inviteToken: 'invite-token' })

  // The user is signed in now, and the success message stays.
  expect(selectSignedIn(store.getState())).toBe(true)
  expect(services.jar.get('isAdmin')).toBe('1')
  expect(screen.queryByRole('link', { name: 'Go to Login' })).not.toBeInTheDocument()
  await user.click(screen.getByRole('link', { name: 'Open Quarterdeck' }))
  expect(await screen.findByRole('heading', { name: 'Network Overview' })).toBeVisible()
})

test('§2 registration leads to the page that the user wanted to open before', async () => {
  const { network, user } = renderApp('/databases?sort=size')
  network.post('/api/auth/verify-invite').answers({ token: 'invite-token' })
  network.post('/api/auth/register').answers({ qrCode })
  network.post('/api/auth/verify-registration').answers({ loginToken: tokenOf('ann') })
  await user.click(await screen.findByRole('link', { name: 'Create Account' }))
  await user.type(await screen.findByLabelText('Invite code'), 'INVITE-1')
  await user.click(screen.getByRole('button', { name: 'Continue' }))
  await screen.findByLabelText('Username')
  await fillAccount({ user })
  await screen.findByLabelText('Verification code')
  await enterCode({ user })
  expect(await screen.findByRole('link', { name: 'Open Quarterdeck' })).toHaveAttribute('href', '/databases?sort=size')
})

test('§2 the sixth digit of the code sends it once, and after a refusal the field is empty for the next one', async () => {
  const rendered = await atStepThree()
  const refused = rendered.network
    .post('/api/auth/verify-registration')
    .answersLater(400, { error: 'That code is wrong' })
  const field = screen.getByLabelText('Verification code')
  // A placeholder of digits looks like a code that was typed.
  expect(field).not.toHaveAttribute('placeholder')
  await rendered.user.type(field, '12345')
  expect(screen.getByRole('button', { name: 'Verify Code' })).not.toHaveAttribute('aria-busy', 'true')
  await rendered.user.type(field, '6{Enter}7')
  refused.release()
  expect(await screen.findByRole('alert')).toHaveTextContent('That code is wrong')
  expect(refused.calls.map(({ body }) => (body as { token: string }).token)).toEqual(['123456'])
  await waitFor(() => expect(field).toHaveValue(''))
  const accepted = rendered.network.post('/api/auth/verify-registration').answers({ loginToken: tokenOf('ann') })
  await rendered.user.click(field)
  await rendered.user.paste('654 321')
  expect(await screen.findByText(success)).toBeVisible()
  expect(accepted.calls).toHaveLength(1)
})

test('§2 the success page leads to the login page when the server sent no usable token', async () => {
  const rendered = await atStepThree()
  rendered.network.post('/api/auth/verify-registration').answers({})
  await enterCode(rendered)
  await rendered.user.click(await screen.findByRole('link', { name: 'Go to Login' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
})

test('§2 the third step shows the QR code and the secret as text that can be copied', async () => {
  const { user } = await atStepThree()
  expect(screen.getByRole('img', { name: 'QR code for your authenticator app' })).toHaveAttribute('src', qrCode)
  expect(screen.getByText('JBSW Y3DP EHPK 3PXP')).toBeVisible()
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(screen.getByRole('button', { name: 'Copy key' }))
  expect(await screen.findByText('Copied')).toBeInTheDocument()
  expect(write).toHaveBeenCalledWith('JBSWY3DPEHPK3PXP')
})

test('§2 the third step shows only the QR code when the server sends no secret text', async () => {
  await atStepThree({})
  expect(screen.getByRole('img', { name: 'QR code for your authenticator app' })).toBeVisible()
  expect(screen.queryByRole('button', { name: 'Copy key' })).not.toBeInTheDocument()
})

test('§2 an invite link fills in its code', async () => {
  const { invite } = await atStepTwo('/register?invite=FROM-LINK')
  expect(invite.calls[0]?.body).toEqual({ inviteCode: 'FROM-LINK' })
})

test('§2 the code of an invite link is removed from the URL at once and survives a reload', async () => {
  const first = renderApp('/register?invite=FROM-LINK')
  expect(await screen.findByLabelText('Invite code')).toHaveValue('FROM-LINK')
  expect(window.location.href).not.toContain('FROM-LINK')
  expect(JSON.stringify(first.store.getState())).not.toContain('FROM-LINK')
  const kept: unknown = window.history.state
  first.leave()
  renderApp('/register', { historyState: kept })
  expect(await screen.findByLabelText('Invite code')).toHaveValue('FROM-LINK')
})

test.each([
  ['ab', 'correct horse', 'Username', '3 to 32 letters, digits or _ . -'],
  ['ann lee', 'correct horse', 'Username', '3 to 32 letters, digits or _ . -'],
  ['a'.repeat(33), 'correct horse', 'Username', '3 to 32 letters, digits or _ . -'],
  ['ann', 'short 7', 'Password', '8 to 128 characters'],
])('§5 username %p with password %p is rejected before a request is sent', async (username, password, label, rule) => {
  const rendered = await atStepTwo()
  const register = rendered.network.post('/api/auth/register').answers({ qrCode })
  await fillAccount(rendered, username, password)
  const field = screen.getByLabelText(label)
  expect(field).toBeInvalid()
  expect(field).toHaveFocus()
  expect(field).toHaveAccessibleDescription(rule)
  expect(register.calls).toHaveLength(0)

  await fillAccount(rendered)
  expect(await screen.findByLabelText('Verification code')).toBeVisible()
})

test('§5 registration requires invite code, username and password before it sends a request', async () => {
  const { network, user } = renderApp('/register')
  const invite = network.post('/api/auth/verify-invite').answers({ token: 'invite-token' })
  const register = network.post('/api/auth/register').answers({ qrCode })
  const next = () => user.click(screen.getByRole('button', { name: 'Continue' }))
  const field = await screen.findByLabelText('Invite code')
  await next()
  await user.type(field, 'INVITE-1')
  await next()
  await user.type(await screen.findByLabelText('Username'), 'ann')
  expect(invite.calls.map(({ body }) => body)).toEqual([{ inviteCode: 'INVITE-1' }])
  await next()
  await user.clear(screen.getByLabelText('Username'))
  await user.type(screen.getByLabelText('Password'), 'correct horse')
  await next()
  await user.type(screen.getByLabelText('Username'), 'ann')
  await next()
  await screen.findByLabelText('Verification code')
  expect(register.calls.map(({ body }) => body)).toEqual([
    { username: 'ann', password: 'correct horse', inviteToken: 'invite-token' },
  ])
})

test('§2 the password can be shown during registration', async () => {
  const { user } = await atStepTwo()
  expect(screen.getByLabelText('Password')).toHaveAttribute('type', 'password')
  await user.click(screen.getByRole('button', { name: 'Show password' }))
  expect(screen.getByLabelText('Password')).toHaveAttribute('type', 'text')
})

test.each([
  ['a refusal within a 200', 200, {}, 'invalid invite code please try again'],
  ['the server error', 400, { error: 'This invite has expired' }, 'This invite has expired'],
  ['the product text otherwise', 500, {}, 'failed to verify invite code please try again'],
])('§8 a failed invite code shows %s', async (_case, status, body, text) => {
  const { network, user } = renderApp('/register?invite=X')
  network.post('/api/auth/verify-invite').answers(status, body)
  await user.click(await screen.findByRole('button', { name: 'Continue' }))
  expect(await screen.findByRole('alert')).toHaveTextContent(text)
})

test.each([
  ['the server error', 409, { error: 'That username is taken' }, 'That username is taken'],
  ['the product text otherwise', 500, {}, 'registration failed please try again'],
])('§8 a failed registration shows %s and keeps the input', async (_case, status, body, text) => {
  const rendered = await atStepTwo()
  rendered.network.post('/api/auth/register').answers(status, body)
  await fillAccount(rendered)
  expect(await screen.findByRole('alert')).toHaveTextContent(text)
  expect(screen.getByLabelText('Username')).toHaveValue('ann')
})

const withoutData: [string, string][] = [
  ['no data', '{"success":true}'],
  ['null', '{"success":true,"data":null}'],
  ['empty data', '{"success":true,"data":{}}'],
  ['nothing', 'null'],
]

test.each(withoutData)('§8 a 200 for an invite code with %s counts as a refusal', async (_case, answer) => {
  const { network, user } = renderApp('/register?invite=X')
  network.post('/api/auth/verify-invite').answersRaw(200, answer)
  await user.click(await screen.findByRole('button', { name: 'Continue' }))
  expect(await screen.findByRole('alert')).toHaveTextContent('invalid invite code please try again')
  expect(screen.getByLabelText('Invite code')).toHaveValue('X')
})

test.each(withoutData)(
  '§8 a 200 for a registration with %s counts as a failure and keeps the input',
  async (_case, answer) => {
    const rendered = await atStepTwo()
    rendered.network.post('/api/auth/register').answersRaw(200, answer)
    await fillAccount(rendered)
    expect(await screen.findByRole('alert')).toHaveTextContent('registration failed please try again')
    expect(screen.getByLabelText('Username')).toHaveValue('ann')
  },
)

test.each([
  ['the server error', 400, { error: 'That code is wrong' }, 'That code is wrong'],
  ['the server message', 400, { message: 'Too slow' }, 'Too slow'],
  ['the product text otherwise', 503, {}, 'verification failed please try again'],
])('§8 a failed registration code shows %s', async (_case, status, body, text) => {
  const rendered = await atStepThree()
  rendered.network.post('/api/auth/verify-registration').answers(status, body)
  await enterCode(rendered)
  expect(await screen.findByRole('alert')).toHaveTextContent(text)
  expect(screen.getByRole('img', { name: 'QR code for your authenticator app' })).toBeVisible()
})

test('§4 Start over returns to the invite step and clears the other steps', async () => {
  const { user } = await atStepThree()
  await user.click(screen.getByRole('button', { name: 'Start over' }))
  expect(await screen.findByLabelText('Invite code')).toBeVisible()
  expect(screen.queryByText('JBSW Y3DP EHPK 3PXP')).not.toBeInTheDocument()
})

test('Start over forgets the failures of later steps', async () => {
  const rendered = await atStepTwo()
  rendered.network.post('/api/auth/register').answers(409, { error: 'That username is taken' })
  await fillAccount(rendered)
  await screen.findByRole('alert')
  await rendered.user.click(screen.getByRole('button', { name: 'Start over' }))
  await rendered.user.type(await screen.findByLabelText('Invite code'), 'INVITE-1')
  await rendered.user.click(screen.getByRole('button', { name: 'Continue' }))
  await screen.findByLabelText('Username')
  expect(screen.queryByRole('alert')).not.toBeInTheDocument()
})

test('§2 leaving the registration half-way clears its data', async () => {
  const { user, store } = await atStepThree()
  await user.click(screen.getByRole('link', { name: 'Sign In' }))
  await screen.findByRole('heading', { name: 'Sign In' })
  const state = JSON.stringify(store.getState())
  for (const secret of ['JBSWY3DPEHPK3PXP', 'invite-token', 'correct horse']) expect(state).not.toContain(secret)
  await user.click(screen.getByRole('link', { name: 'Create Account' }))
  expect(await screen.findByLabelText('Invite code')).toHaveValue('')
})

test('§2 register redirects a signed-in user home', async () => {
  const { network } = renderApp('/register', { signedInAs: 'ann' })
  network.shows([])
  expect(await screen.findByRole('heading', { name: 'Network Overview' })).toBeVisible()
})
