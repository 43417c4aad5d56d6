import { screen, waitFor, within } from '@testing-library/react'
import { installPasskeys, passkeyOptions, removePasskeys } from '../../../support/web/passkeys'
import { network } from '../../../support/web/network'
import { notifications } from '../../../support/web/notifications'
import { recordActions } from '../../../support/web/recordedActions'
import { renderApp } from '../../../support/web/renderApp'

const OLD = 'correct horse battery'
const NEW = 'a much newer secret'
type Typed = { old?: string; fresh?: string; repeated?: string; code?: string }
const methodOf = (name: string) => ({ id: `id-of-${name}`, name, created_at: '2026-11-01T10:00:00.000Z' })
const onlyApp = { passkeys: [], authenticators: [methodOf('Phone')], recoveryCodes: 0 }
const onlyPasskey = { passkeys: [methodOf('Laptop')], authenticators: [], recoveryCodes: 0 }

async function opened(methods: object = onlyApp) {
  network.get('/api/account/methods').answers(methods)
  const app = renderApp('/no/such/page', { signedInAs: 'ann' })
  await app.user.click(await screen.findByRole('button', { name: 'Your account' }))
  await app.user.click(screen.getByRole('menuitem', { name: 'Change password' }))
  const dialog = await screen.findByRole('dialog', { name: 'Change Password' })
  const fields = {
    old: within(dialog).getByLabelText('Current password'),
    fresh: within(dialog).getByLabelText('New password'),
    repeated: within(dialog).getByLabelText('Repeat new password'),
    /** Missing when a passkey takes its place. */
    code: within(dialog).queryByLabelText('Verification code'),
  }
  const fill = async ({ old = OLD, fresh = NEW, repeated = fresh, code = '123456' }: Typed = {}) => {
    for (const [field, text] of [
      [fields.old, old],
      [fields.fresh, fresh],
      [fields.repeated, repeated],
      [fields.code, code],
    ] as const) {
      if (!field?.isConnected) continue
      await app.user.clear(field)
      if (text) await app.user.type(field, text)
    }
    await app.user.click(within(dialog).getByRole('button', { name: 'Change' }))
  }
  return { ...app, dialog, fields, fill }
}

afterEach(() => removePasskeys())

test('the form sends the old password, the new password and a code, and leaves none of them in the state', async () => {
  const { network, store, fill } = await opened()
  const { calls } = network.post('/api/auth/change-password').answers({})
  await fill({ code: '123 456' })
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(calls.map(({ body }) => body)).toEqual([{ password: OLD, newPassword: NEW, token: '123456' }])
  expect(notifications()).toEqual(['Password changed. All your other sessions have ended.'])
  const state = JSON.stringify(store.getState())
  for (const secret of [OLD, NEW, '123456']) expect(state).not.toContain(secret)
})

test('the state contains no secrets while the user types', async () => {
  const { store, user, fields } = await opened()
  await user.type(fields.old, OLD)
  await user.type(fields.fresh, NEW)
  await user.type(fields.code!, '654321')
  const state = JSON.stringify(store.getState())
  for (const secret of [OLD, NEW, '654321']) expect(state).not.toContain(secret)
})

test('the fields carry autocomplete hints for password managers', async () => {
  const { fields } = await opened()
  const hints = Object.values(fields).map((field) => field?.getAttribute('autocomplete'))
  expect(hints).toEqual(['current-password', 'new-password', 'new-password', 'one-time-code'])
  expect(fields.old).toHaveFocus()
})

test.each([
  ['a missing old password', { old: '' }, 'old', 'Please enter your current password'],
  ['a new password of 7 characters', { fresh: 'short 7' }, 'fresh', '8 to 128 characters'],
  ['a new password of 129 characters', { fresh: 'x'.repeat(129) }, 'fresh', '8 to 128 characters'],
  ['a repeated password that differs', { repeated: 'something else' }, 'repeated', 'The two passwords differ'],
  ['a missing code', { code: '' }, 'code', 'Six digits from your authenticator app, or a recovery code'],
  ['a code of 5 digits', { code: '12345' }, 'code', 'Six digits from your authenticator app, or a recovery code'],
] as const)('§9 %s is rejected before a request is sent', async (_case, typed, field, rule) => {
  const { network, fill, fields } = await opened()
  const { calls } = network.post('/api/auth/change-password').answers({})
  await fill(typed)
  expect(fields[field]).toBeInvalid()
  expect(fields[field]).toHaveAccessibleDescription(rule)
  expect(fields[field]).toHaveFocus()
  expect(calls).toHaveLength(0)
  await fill()
  await waitFor(() => expect(calls).toHaveLength(1))
})

test.each([
  [
    'the server message for a wrong old password',
    400,
    { code: 'BAD_CREDENTIALS', message: 'The password is not right.' },
    'The password is not right.',
  ],
  [
    'the server message for a wrong code',
    400,
    { code: 'INVALID_CODE', message: 'The verification code is incorrect.' },
    'The verification code is incorrect.',
  ],
  [
    'the server message for too many attempts',
    429,
    { code: 'TOO_MANY_TRIES', message: 'Too many tries. Wait a minute.' },
    'Too many tries. Wait a minute.',
  ],
  ['a default message for other errors', 500, {}, 'Failed to change the password'],
  [
    'a message for a server without this route',
    404,
    { message: 'Not found' },
    'This server does not offer changing your password.',
  ],
])('the dialog shows %s and asks for a new code', async (_case, status, body, text) => {
  const { network, dialog, fill, fields } = await opened()
  network.post('/api/auth/change-password').answers(status, body)
  await fill()
  expect(await within(dialog).findByRole('alert')).toHaveTextContent(text)
  expect(fields.code).toHaveValue('')
  expect('code' in body && body.code === 'BAD_CREDENTIALS' ? fields.old : fields.code).toHaveFocus()
  expect(fields.fresh).toHaveValue(NEW)
})

test('the dialog stays open and sends one request while the change is in flight', async () => {
  const { network, dialog, user, fill } = await opened()
  const { calls, release } = network.post('/api/auth/change-password').answersLater({})
  await fill()
  await user.click(within(dialog).getByRole('button', { name: 'Changing...' }))
  await user.keyboard('{Escape}')
  expect(dialog).toBeVisible()
  release()
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(calls).toHaveLength(1)
})

describe('with a proof', () => {
  const proofs = () => {
    network.get('/api/auth/methods').answers({ passkeys: true })
    network.post('/api/account/proof/passkey-options').answers({ options: passkeyOptions })
    return {
      proven: network.post('/api/account/proof').answers({ proof: 'the-proof' }),
      changed: network.post('/api/auth/change-password').answers({}),
    }
  }
  const isClosed = () => waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  const noCode = async (dialog: HTMLElement) => {
    await within(dialog).findByText('Then your browser asks for a passkey.')
    expect(within(dialog).queryByLabelText('Verification code')).not.toBeInTheDocument()
  }

  test('a user whose only method is a passkey is asked for no code, and the proof enters neither the store nor an action', async () => {
    const { prompt } = installPasskeys()
    const { proven, changed } = proofs()
    const { dialog, fill, store } = await opened(onlyPasskey)
    await noCode(dialog)
    const actions = recordActions()
    await fill({ code: '' })
    await isClosed()
    expect(proven.calls.map(({ body }) => body)).toEqual([
      { password: OLD, passkey: expect.objectContaining({ id: 'cHV0LW1l' }) },
    ])
    expect(changed.calls.map(({ body }) => body)).toEqual([{ proof: 'the-proof', newPassword: NEW }])
    expect(prompt).toHaveBeenCalledTimes(1)
    expect(notifications()).toEqual(['Password changed. All your other sessions have ended.'])
    const state = JSON.stringify(store.getState())
    for (const secret of [OLD, NEW, 'the-proof']) expect(state).not.toContain(secret)
    // The arguments of the call are masked in the action log.
    expect(actions()).toContain('changePassword')
    expect(actions()).not.toContain('the-proof')
  })

  test('a passkey can replace the code, and the code the passkey', async () => {
    installPasskeys()
    const { proven, changed } = proofs()
    const { dialog, user, fill } = await opened({ ...onlyApp, passkeys: onlyPasskey.passkeys })
    await user.click(await within(dialog).findByRole('button', { name: 'Use a passkey instead of a code' }))
    await noCode(dialog)
    await user.click(within(dialog).getByRole('button', { name: 'Use a code instead' }))
    expect(within(dialog).getByLabelText('Verification code')).toBeVisible()
    await user.click(within(dialog).getByRole('button', { name: 'Use a passkey instead of a code' }))
    await fill({ code: '' })
    await isClosed()
    expect([proven.calls.length, changed.calls.length]).toEqual([1, 1])
  })

  test('a cancelled passkey is said in the dialog only, sends nothing and can be tried again', async () => {
    const { refuse } = installPasskeys()
    const { changed } = proofs()
    const { dialog, fields, user, fill } = await opened(onlyPasskey)
    await noCode(dialog)
    refuse('NotAllowedError')
    await fill({ code: '' })
    expect(await within(dialog).findByRole('alert')).toHaveTextContent('No passkey was used')
    // The user may have cancelled the prompt, which is no failure.
    expect(notifications()).toEqual([])
    expect(changed.calls).toEqual([])
    expect(fields.fresh).toHaveValue(NEW)
    await user.click(within(dialog).getByRole('button', { name: 'Change' }))
    await isClosed()
    expect(changed.calls).toHaveLength(1)
  })

  test('a recovery code is accepted in the place of a one-time code', async () => {
    const { proven, changed } = proofs()
    const { fill } = await opened({ ...onlyApp, recoveryCodes: 9 })
    await fill({ code: 'AAAA-BBBB-CCCC-DDDD' })
    await isClosed()
    expect(proven.calls.map(({ body }) => body)).toEqual([{ password: OLD, code: 'AAAA-BBBB-CCCC-DDDD' }])
    expect(changed.calls.map(({ body }) => body)).toEqual([{ proof: 'the-proof', newPassword: NEW }])
  })
})
