import { screen, waitFor, within } from '@testing-library/react'
import { notifications } from '../../../support/web/notifications'
import { renderApp } from '../../../support/web/renderApp'

const OLD = 'correct horse battery'
const NEW = 'a much newer secret'
type Typed = { old?: string; fresh?: string; repeated?: string; code?: string }

async function opened() {
  const app = renderApp('/no/such/page', { signedInAs: 'ann' })
  await app.user.click(await screen.findByRole('button', { name: 'Your account' }))
  await app.user.click(screen.getByRole('menuitem', { name: 'Change password' }))
  const dialog = await screen.findByRole('dialog', { name: 'Change Password' })
  const fields = {
    old: within(dialog).getByLabelText('Current password'),
    fresh: within(dialog).getByLabelText('New password'),
    repeated: within(dialog).getByLabelText('Repeat new password'),
    code: within(dialog).getByLabelText('Verification code'),
  }
  const fill = async ({ old = OLD, fresh = NEW, repeated = fresh, code = '123456' }: Typed = {}) => {
    for (const [field, text] of [
      [fields.old, old],
      [fields.fresh, fresh],
      [fields.repeated, repeated],
      [fields.code, code],
    ] as const) {
      await app.user.clear(field)
      if (text) await app.user.type(field, text)
    }
    await app.user.click(within(dialog).getByRole('button', { name: 'Change' }))
  }
  return { ...app, dialog, fields, fill }
}

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
  await user.type(fields.code, '654321')
  const state = JSON.stringify(store.getState())
  for (const secret of [OLD, NEW, '654321']) expect(state).not.toContain(secret)
})

test('the fields carry autocomplete hints for password managers', async () => {
  const { fields } = await opened()
  const hints = Object.values(fields).map((field) => field.getAttribute('autocomplete'))
  expect(hints).toEqual(['current-password', 'new-password', 'new-password', 'one-time-code'])
  expect(fields.old).toHaveFocus()
})

test.each([
  ['a missing old password', { old: '' }, 'old', 'Please enter your current password'],
  ['a new password of 7 characters', { fresh: 'short 7' }, 'fresh', '8 to 128 characters'],
  ['a new password of 129 characters', { fresh: 'x'.repeat(129) }, 'fresh', '8 to 128 characters'],
  ['a repeated password that differs', { repeated: 'something else' }, 'repeated', 'The two passwords differ'],
  ['a code of 5 digits', { code: '12345' }, 'code', 'The 6 digits that your authenticator app shows now'],
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
