import { screen, waitFor, within } from '@testing-library/react'
import { network } from '../../../support/web/network'
import { installPasskeys, passkeyOptions, removePasskeys } from '../../../support/web/passkeys'
import { recordActions } from '../../../support/web/recordedActions'
import { renderApp } from '../../../support/web/renderApp'

const methodOf = (name: string, last_used_at?: string) => ({
  id: `id-of-${name}`,
  name,
  created_at: '2026-11-01T10:00:00.000Z',
  ...(last_used_at && { last_used_at }),
})
const phone = methodOf('Phone', '2026-11-02T10:00:00.000Z')
const CODES = Array.from({ length: 10 }, (_, at) => `AAAA-BBBB-CCCC-DDD${at}`)

type Methods = {
  passkeys?: object[]
  authenticators?: object[]
  recoveryCodes?: number
  openId?: { name?: string; connected: boolean; own: boolean }
}

async function rendered({
  passkeys = [],
  authenticators = [phone],
  recoveryCodes = 0,
  openId = { connected: false, own: false },
  path = '/security',
  isPasskeyAddress = true,
}: Methods & { path?: string; isPasskeyAddress?: boolean } = {}) {
  network.get('/api/auth/methods').answers({ passkeys: isPasskeyAddress })
  network.get('/api/account/methods').answers({ passkeys, authenticators, recoveryCodes })
  network.get('/api/account/openid').answers(openId)
  const app = renderApp(path, { signedInAs: '1' })
  await screen.findByRole('heading', { name: 'Sign-in methods' })
  return app
}
type User = Awaited<ReturnType<typeof rendered>>['user']

/** Opens a dialog by its button, and types the proof. */
async function proving(user: User, button: string, code = '123456') {
  await user.click(await screen.findByRole('button', { name: button }))
  const dialog = await screen.findByRole('dialog')
  await user.type(within(dialog).getByLabelText('Password'), 'the password')
  const field = within(dialog).queryByLabelText('Code')
  if (field && code) await user.type(field, code)
  return dialog
}
const press = (user: User, name: string | RegExp) =>
  user.click(within(screen.getByRole('dialog')).getByRole('button', { name }))
const proof = () => network.post('/api/account/proof').answers({ proof: 'the-proof' })

beforeEach(() => jest.spyOn(console, 'warn').mockReturnValue())
afterEach(() => {
  jest.restoreAllMocks()
  removePasskeys()
})

test('the user menu leads to the sign-in methods', async () => {
  network.shows([])
  network.get('/api/account/methods').answers({ passkeys: [], authenticators: [phone], recoveryCodes: 0 })
  network.get('/api/account/openid').answers({ connected: false, own: false })
  const { user } = renderApp('/', { signedInAs: '1' })
  await user.click(await screen.findByRole('button', { name: 'Your account' }))
  await user.click(screen.getByRole('menuitem', { name: 'Sign-in methods' }))
  expect(await screen.findByRole('listitem', { name: 'Phone' })).toBeVisible()
})

test('the page lists passkeys and authenticator apps with their last use, and counts the recovery codes', async () => {
  installPasskeys()
  await rendered({ passkeys: [methodOf('Laptop')], recoveryCodes: 3 })
  expect(await screen.findByRole('listitem', { name: 'Laptop' })).toHaveTextContent(/added .* · never used/)
  expect(screen.getByRole('listitem', { name: 'Phone' })).toHaveTextContent(/added .* · used /)
  expect(screen.getByText('You have 3 codes left.')).toBeVisible()
  expect(screen.queryByRole('region', { name: 'Single sign-on' })).not.toBeInTheDocument()
})

test('the only second factor of an account cannot be removed', async () => {
  await rendered()
  expect(await screen.findByRole('listitem', { name: 'Phone' })).toHaveTextContent('your only one')
  expect(screen.queryByRole('button', { name: 'Remove the authenticator app Phone' })).not.toBeInTheDocument()
})

test('a passkey is added after the password and a code, with a name', async () => {
  const { prompt } = installPasskeys()
  const { user } = await rendered()
  const proven = proof()
  const options = network.post('/api/account/passkeys/options').answers({ options: passkeyOptions })
  const created = network.post('/api/account/passkeys').answers({})
  await proving(user, 'Add passkey')
  await press(user, 'Continue')
  const name = await screen.findByLabelText('Name')
  expect(name).toHaveFocus()
  expect(proven.calls[0]!.body).toEqual({ password: 'the password', code: '123456' })
  expect(options.calls[0]!.body).toEqual({ proof: 'the-proof' })

  await press(user, 'Create passkey')
  expect(name).toHaveAccessibleDescription('Please give it a name')
  expect(prompt).not.toHaveBeenCalled()
  await user.type(name, ' Laptop ')
  network
    .get('/api/account/methods')
    .answers({ passkeys: [methodOf('Laptop')], authenticators: [phone], recoveryCodes: 0 })
  await press(user, 'Create passkey')
  expect(await screen.findByRole('listitem', { name: 'Laptop' })).toBeVisible()
  expect(created.calls[0]!.body).toMatchObject({ name: 'Laptop', response: { id: 'cHV0LW1l' } })
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
})

test.each([
  ['NotAllowedError', 'No passkey was used: the request was cancelled, or it took too long.'],
  ['InvalidStateError', 'This device has a passkey for your account already.'],
  ['UnknownError', 'The browser or the device could not use a passkey. Please try again.'],
])('when the browser creates no passkey (%s), the dialog says why and can try again', async (name, text) => {
  const { refuse } = installPasskeys()
  const { user } = await rendered()
  proof()
  const options = network.post('/api/account/passkeys/options').answers({ options: passkeyOptions })
  const created = network.post('/api/account/passkeys').answers({})
  await proving(user, 'Add passkey')
  await press(user, 'Continue')
  await user.type(await screen.findByLabelText('Name'), 'Laptop')
  refuse(name)
  await press(user, 'Create passkey')
  expect(await within(screen.getByRole('dialog')).findByRole('alert')).toHaveTextContent(text)
  expect(screen.getByLabelText('Name')).toHaveValue('Laptop')
  await press(user, 'Create passkey')
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect([options.calls.length, created.calls.length]).toEqual([1, 1])
})

test('a wrong code is reported, the password stays and another code can be sent', async () => {
  const { user } = await rendered()
  network
    .post('/api/account/proof')
    .answers(400, { code: 'INVALID_CODE', message: 'The verification code is incorrect.' })
  const dialog = await proving(user, 'Create codes')
  await press(user, 'Create codes')
  expect(await within(dialog).findByRole('alert')).toHaveTextContent('The verification code is incorrect.')
  const code = within(dialog).getByLabelText('Code')
  expect(code).toHaveValue('')
  await waitFor(() => expect(code).toHaveFocus())
  expect(within(dialog).getByLabelText('Password')).toHaveValue('the password')
  expect(code).toHaveAttribute('aria-invalid', 'false')
})

test('a form without a password or a code shows the missing field and sends nothing', async () => {
  const { user } = await rendered()
  const { calls } = proof()
  await user.click(await screen.findByRole('button', { name: 'Create codes' }))
  await press(user, 'Create codes')
  expect(screen.getByLabelText('Password')).toHaveAttribute('aria-invalid', 'true')
  expect(screen.getByLabelText('Password')).toHaveAccessibleDescription('Please enter your password')
  expect(screen.getByLabelText('Code')).toHaveAttribute('aria-invalid', 'true')
  expect(calls).toEqual([])
})

test('a server that cannot be reached leaves the dialog open with an error', async () => {
  const { user } = await rendered()
  network.post('/api/account/proof').isUnreachable()
  const dialog = await proving(user, 'Create codes')
  await press(user, 'Create codes')
  expect(await within(dialog).findByRole('alert')).toHaveTextContent('The server could not be reached.')
  expect(within(dialog).getByRole('button', { name: 'Create codes' })).toBeEnabled()
})

test('a session that ends meanwhile leads to the login page', async () => {
  const { user } = await rendered()
  network.post('/api/account/proof').answers(401)
  await proving(user, 'Create codes')
  await press(user, 'Create codes')
  expect(await screen.findByText('Your session has ended. Please sign in again.')).toBeVisible()
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
})

test('new recovery codes are shown once, copied and downloaded, and no part of them enters the store or an action', async () => {
  const { user, store } = await rendered({ recoveryCodes: 2 })
  const actions = recordActions()
  proof()
  network.post('/api/account/recovery-codes').answers({ codes: CODES })
  const dialog = await proving(user, 'Create new codes')
  expect(dialog).toHaveTextContent('The 2 codes that you still have will no longer work.')
  await press(user, 'Create codes')
  const shown = await screen.findByRole('dialog', { name: 'Your New Recovery Codes' })
  const list = within(shown).getByRole('list', { name: 'Recovery codes' })
  expect(
    within(list)
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent),
  ).toEqual(CODES)

  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(within(shown).getByRole('button', { name: 'Copy' }))
  await waitFor(() => expect(write.mock.calls).toEqual([[CODES.join('\n')]]))
  const createUrl = jest.spyOn(URL, 'createObjectURL')
  jest.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue()
  await user.click(within(shown).getByRole('button', { name: 'Download' }))
  expect(createUrl.mock.calls).toEqual([[expect.any(Blob)]])

  expect(JSON.stringify(store.getState())).not.toMatch(/AAAA-BBBB|the-proof/)
  expect(actions()).toContain('createRecoveryCodes')
  expect(actions()).not.toMatch(/AAAA-BBBB|the-proof/)
  await user.click(within(shown).getByRole('button', { name: 'I have kept them' }))
  await waitFor(() => expect(screen.queryByText(CODES[0]!)).not.toBeInTheDocument())
})

test('an authenticator app is added with its first code; a wrong one can be corrected', async () => {
  const { user } = await rendered()
  proof()
  network
    .post('/api/account/authenticators')
    .answers({ setup: 'the-setup', qrCode: 'data:image/png;base64,AAAA', secret: 'JBSWY3DPEHPK3PXP' })
  network
    .post('/api/account/authenticators/confirm')
    .answers(400, { code: 'INVALID_CODE', message: 'The verification code is incorrect.' })
  await proving(user, 'Add app')
  await press(user, 'Continue')
  expect(await screen.findByRole('img', { name: 'QR code for your authenticator app' })).toBeVisible()
  expect(screen.getByText('JBSW Y3DP EHPK 3PXP')).toBeVisible()
  await user.type(screen.getByLabelText('Name'), 'Tablet')
  await user.type(screen.getByLabelText('Verification code'), '111111')
  await press(user, 'Add')
  expect(await within(screen.getByRole('dialog')).findByRole('alert')).toHaveTextContent('code is incorrect')
  await waitFor(() => expect(screen.getByLabelText('Verification code')).toHaveFocus())
  const confirmed = network.post('/api/account/authenticators/confirm').answers({})
  await user.type(screen.getByLabelText('Verification code'), '222222')
  await press(user, 'Add')
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(confirmed.calls.map(({ body }) => body)).toEqual([{ setup: 'the-setup', name: 'Tablet', code: '222222' }])
})

test('a method is renamed', async () => {
  const { user } = await rendered()
  const renamed = network.patch('/api/account/authenticators/id-of-Phone').answers({})
  await user.click(await screen.findByRole('button', { name: 'Rename the authenticator app Phone' }))
  const name = screen.getByLabelText('Name')
  expect(name).toHaveValue('Phone')
  await user.clear(name)
  await user.type(name, 'Old phone')
  await press(user, 'Rename')
  await waitFor(() => expect(renamed.calls.map(({ body }) => body)).toEqual([{ name: 'Old phone' }]))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
})

test('a method is removed with a passkey as proof', async () => {
  const { prompt } = installPasskeys()
  const { user } = await rendered({ passkeys: [methodOf('Laptop')] })
  network.post('/api/account/proof/passkey-options').answers({ options: passkeyOptions })
  const proven = proof()
  const removed = network.post('/api/account/authenticators/id-of-Phone/remove').answers({})
  await proving(user, 'Remove the authenticator app Phone', '')
  await press(user, 'Use a passkey instead of a code')
  expect(screen.queryByLabelText('Code')).not.toBeInTheDocument()
  await press(user, 'Remove')
  await waitFor(() => expect(removed.calls.map(({ body }) => body)).toEqual([{ proof: 'the-proof' }]))
  expect(proven.calls[0]!.body).toMatchObject({ password: 'the password', passkey: { id: 'cHV0LW1l' } })
  expect(prompt).toHaveBeenCalledTimes(1)
})

test('without passkeys in this browser the page explains it and offers none', async () => {
  await rendered()
  expect(await screen.findByText('This browser does not support passkeys.')).toBeVisible()
  expect(screen.queryByRole('button', { name: 'Add passkey' })).not.toBeInTheDocument()
})

describe('at an address where passkeys do not work', () => {
  const reason =
    'Passkeys do not work at this address. They need HTTPS and a domain name; only localhost works without.'

  test('the page says so and offers none, and the passkeys of other addresses stay', async () => {
    installPasskeys()
    await rendered({ passkeys: [methodOf('Laptop')], isPasskeyAddress: false })
    expect(await screen.findByText(reason)).toBeVisible()
    expect(screen.getByRole('listitem', { name: 'Laptop' })).toBeVisible()
    expect(screen.queryByRole('button', { name: 'Add passkey' })).not.toBeInTheDocument()
  })

  test('a browser that hides passkeys because the page has no HTTPS gets the same reason', async () => {
    Object.defineProperty(window, 'isSecureContext', { value: false, configurable: true })
    await rendered({ isPasskeyAddress: false })
    expect(await screen.findByText(reason)).toBeVisible()
    expect(screen.queryByText('This browser does not support passkeys.')).not.toBeInTheDocument()
    Reflect.deleteProperty(window, 'isSecureContext')
  })
})

test('an account is connected to the provider with a proof', async () => {
  const { user } = await rendered({ openId: { name: 'Harbour', connected: false, own: false } })
  const open = jest.spyOn(window, 'open').mockReturnValue(null)
  proof()
  network.post('/api/account/openid').answers({ url: 'https://harbour.example/auth?state=s' })
  await proving(user, 'Connect to Harbour')
  await press(user, 'Continue')
  await waitFor(() => expect(open.mock.calls).toEqual([['https://harbour.example/auth?state=s', '_self']]))
})

test('a connected account can be disconnected after a confirmation', async () => {
  const { user } = await rendered({ openId: { name: 'Harbour', connected: true, own: false } })
  const { calls } = network.delete('/api/account/openid').answers({})
  await user.click(await screen.findByRole('button', { name: 'Disconnect' }))
  network.get('/api/account/openid').answers({ name: 'Harbour', connected: false, own: false })
  await press(user, 'Disconnect')
  expect(await screen.findByRole('button', { name: 'Connect to Harbour' })).toBeVisible()
  expect(calls).toHaveLength(1)
})

test('the page of an account created by the provider says why no method can be added', async () => {
  await rendered({ authenticators: [], openId: { name: 'Harbour', connected: true, own: true } })
  expect(await screen.findByText(/^Your account was created by Harbour/)).toBeVisible()
  expect(await screen.findByText(/recovery codes need a password/)).toBeVisible()
  expect(screen.queryByRole('button', { name: /^(Add|Make|Connect|Disconnect)/ })).not.toBeInTheDocument()
})

test('the page says why the provider did not connect the account', async () => {
  await rendered({ path: '/security?sso=identity-taken', openId: { name: 'Harbour', connected: false, own: false } })
  expect(await screen.findByRole('alert')).toHaveTextContent('is connected to another account of this console')
})

test('on a server without these calls the page says that the server does not offer them', async () => {
  network.get('/api/account/methods').answers(404)
  network.get('/api/account/openid').answers(404)
  renderApp('/security', { signedInAs: '1' })
  expect(await screen.findByText('This server offers no other sign-in methods.')).toBeVisible()
})
