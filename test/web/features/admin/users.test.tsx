import { act, screen, waitFor, within } from '@testing-library/react'
import { userOf } from '../../../support/web/factories'
import { network } from '../../../support/web/network'
import { problemsIn } from '../../../support/web/problems'
import { notifications } from '../../../support/web/notifications'
import { renderApp } from '../../../support/web/renderApp'

const row = (name: string) => screen.findByRole('listitem', { name })
type User = ReturnType<typeof renderApp>['user']
/** Chooses from the menu of a row. */
async function choose(user: User, name: string, action: string) {
  await user.click(within(await row(name)).getByRole('button', { name: `Actions for ${name}` }))
  await user.click(await within(await row(name)).findByRole('menuitem', { name: action }))
}
const toggleOf = (name: string) => screen.findByRole('switch', { name: `${name} is an administrator` })

async function rendered(subject = '1') {
  network.get('/api/users').answers({ users: [userOf(1, 'ann', true), userOf(2, 'bob'), userOf(3, 'Carol', true)] })
  const app = renderApp('/admin', { signedInAs: subject, isAdmin: true })
  await row('bob')
  return app
}

beforeEach(() => jest.spyOn(console, 'warn').mockReturnValue())
afterEach(() => jest.restoreAllMocks())

test('§2 the user list shows who is an administrator', async () => {
  await rendered()
  expect(screen.getAllByRole('listitem').map((item) => item.getAttribute('aria-label'))).toEqual([
    'ann',
    'bob',
    'Carol',
  ])
  expect(await toggleOf('bob')).not.toBeChecked()
  expect(await toggleOf('Carol')).toBeChecked()
  expect(screen.getByText('3 users · 2 administrators')).toBeVisible()
})

test.each([
  ['contains the user ID', '1'],
  ['contains the username', 'ann'],
])('decisions §2: when the token %s, the own row only offers a password reset', async (_case, subject) => {
  const { user } = await rendered(subject)
  const own = within(await row('ann'))
  expect(own.getByText('You')).toBeVisible()
  expect(own.getByText('Administrator')).toBeVisible()
  expect(own.queryByRole('switch')).not.toBeInTheDocument()
  const actions = async (name: string) => {
    const menu = within(await row(name))
    await user.click(menu.getByRole('button', { name: `Actions for ${name}` }))
    await menu.findByRole('menuitem', { name: 'Reset password' })
    const items = menu.getAllByRole('menuitem').map((item) => item.textContent)
    await user.keyboard('{Escape}')
    return items
  }
  expect(await actions('ann')).toEqual(['Reset password'])
  for (const other of ['bob', 'Carol']) expect(await actions(other)).toEqual(['Reset password', 'Delete'])
})

test('§2 resetting the own password warns that all own sessions end, including this one', async () => {
  const { user } = await rendered('1')
  await choose(user, 'bob', 'Reset password')
  const dialog = () => within(screen.getByRole('dialog', { name: 'Reset Password' }))
  expect(dialog().getByText('All their sessions end at once.')).toBeVisible()
  await user.click(dialog().getByRole('button', { name: 'Cancel' }))
  await choose(user, 'ann', 'Reset password')
  expect(
    dialog().getByText(
      'All your sessions end at once, including this one: you must sign in again with the new password.',
    ),
  ).toBeVisible()
  const reset = network.patch('/api/users/1/password').answers({})
  network.get('/api/users').answers(401)
  await user.type(dialog().getByLabelText('New password'), 'a new horse')
  await user.click(dialog().getByRole('button', { name: 'Reset' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(reset.calls.map(({ body }) => body)).toEqual([{ password: 'a new horse' }])
})

test('a username equal to the own user ID is not treated as the own row', async () => {
  network.get('/api/users').answers({ users: [userOf(100, 'ann', true), userOf(2, '100')] })
  renderApp('/admin', { signedInAs: '100', isAdmin: true })
  expect(within(await row('ann')).getByText('You')).toBeVisible()
  expect(within(await row('100')).queryByText('You')).not.toBeInTheDocument()
})

test('§2 the administrator switch updates optimistically and shows a notification after the response', async () => {
  const { user } = await rendered()
  const { calls, release } = network.patch('/api/users/2/admin').answersLater({})
  const toggle = await toggleOf('bob')
  await user.click(toggle)
  // Cache updates reach the page with the next frame.
  await waitFor(() => expect(toggle).toBeChecked())
  expect(notifications()).toEqual([])
  // A second click while the request is in flight does nothing.
  await user.click(toggle)
  network.get('/api/users').answers({ users: [userOf(1, 'ann', true), userOf(2, 'bob', true)] })
  release()
  await waitFor(() => expect(notifications()).toEqual(['bob is now an administrator']))
  expect(calls.map(({ body }) => body)).toEqual([{ is_admin: true }])
  expect(toggle).toBeChecked()
})

test('before a limited user becomes an administrator, a dialog says that their rights are lost for good', async () => {
  network.get('/api/users').answers({ users: [userOf(1, 'ann', true), { ...userOf(2, 'bob'), role: 'limited' }] })
  const { user } = renderApp('/admin', { signedInAs: '1', isAdmin: true })
  const { calls } = network.patch('/api/users/2/admin').answers({})
  const toggle = await toggleOf('bob')
  await user.click(toggle)
  const dialog = await screen.findByRole('dialog', { name: 'Make Administrator' })
  expect(dialog).toHaveTextContent(
    'An administrator may do everything. The rights that bob has now are removed. If bob stops being an administrator later, bob will be an operator, who may do everything with all deployments, files and databases.',
  )
  await user.click(within(dialog).getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(dialog).not.toBeInTheDocument())
  expect(toggle).not.toBeChecked()
  expect(calls).toEqual([])

  await user.click(toggle)
  network.get('/api/users').answers({ users: [userOf(1, 'ann', true), userOf(2, 'bob', true)] })
  await user.click(await screen.findByRole('button', { name: 'Make administrator' }))
  await waitFor(() => expect(notifications()).toEqual(['bob is now an administrator']))
  expect(calls.map(({ body }) => body)).toEqual([{ is_admin: true }])
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
  expect(toggle).toBeChecked()
})

test('§8 a failed administrator switch is rolled back, and only the problem log records the reason', async () => {
  const { user, store } = await rendered()
  const { release } = network
    .patch('/api/users/3/admin')
    .answersLater(409, { message: 'One administrator has to remain.' })
  const toggle = await toggleOf('Carol')
  await user.click(toggle)
  await waitFor(() => expect(toggle).not.toBeChecked())
  release()
  await waitFor(() =>
    expect(problemsIn(store)).toEqual([
      'Failed to remove administrator rights from Carol: One administrator has to remain.',
    ]),
  )
  await waitFor(() => expect(toggle).toBeChecked())
  expect(notifications()).toEqual([])
})

async function resetting() {
  const app = await rendered()
  await choose(app.user, 'bob', 'Reset password')
  const dialog = await screen.findByRole('dialog', { name: 'Reset Password' })
  return {
    ...app,
    dialog,
    field: within(dialog).getByLabelText('New password'),
    send: () => app.user.click(within(dialog).getByRole('button', { name: 'Reset' })),
  }
}

test.each([
  ['', 'Password cannot be empty'],
  ['   ', 'Password cannot be empty'],
  ['short 7', 'Password must be at least 8 characters'],
  ['x'.repeat(129), 'Password must be at most 128 characters'],
])('§5 a new password of %p is rejected: %s', async (text, message) => {
  const { user, field, send } = await resetting()
  const { calls } = network.patch('/api/users/2/password').answers({})
  if (text) await user.type(field, text)
  await send()
  expect(field).toBeInvalid()
  expect(field).toHaveAccessibleDescription(message)
  expect(field).toHaveFocus()
  expect(calls).toHaveLength(0)
})

test('a password reset says that passkeys and API keys stay, and offers to end them', async () => {
  const { user, dialog, field, send } = await resetting()
  const { calls } = network.patch('/api/users/2/password').answers({})
  expect(dialog).toHaveTextContent('anyone with a passkey or an API key of the account can still use it')
  await user.click(
    within(dialog).getByRole('checkbox', {
      name: 'Also end its API keys, passkeys, invite codes and connection to single sign-on',
    }),
  )
  expect(dialog).toHaveTextContent('Afterwards the account can only be used with the new password')
  await user.type(field, 'brand new secret')
  await send()
  await waitFor(() => expect(notifications()).toEqual(['Successfully reset the password of bob']))
  expect(calls.map(({ body }) => body)).toEqual([{ password: 'brand new secret', endOtherAccess: true }])
})

test('§2 a password reset can show the typed password and leaves none of it in the state', async () => {
  const { user, store, dialog, field, send } = await resetting()
  const { calls } = network.patch('/api/users/2/password').answers({})
  expect(field).toHaveAttribute('type', 'password')
  expect(field).toHaveAttribute('autocomplete', 'new-password')
  await user.click(within(dialog).getByRole('button', { name: 'Show password' }))
  expect(field).toHaveAttribute('type', 'text')
  await user.type(field, 'brand new secret')
  expect(JSON.stringify(store.getState())).not.toContain('brand new secret')
  await send()
  await waitFor(() => expect(notifications()).toEqual(['Successfully reset the password of bob']))
  expect(calls.map(({ body }) => body)).toEqual([{ password: 'brand new secret' }])
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(JSON.stringify(store.getState())).not.toContain('brand new secret')
  await waitFor(() => expect(screen.getByRole('button', { name: 'Actions for bob' })).toHaveFocus())
})

test('§8 a failed reset keeps the dialog and its input, and only the problem log records the reason', async () => {
  const { user, store, dialog, field, send } = await resetting()
  network.patch('/api/users/2/password').answers(500)
  await user.type(field, 'brand new secret')
  await send()
  await waitFor(() =>
    expect(problemsIn(store)).toEqual(['Failed to reset the password of bob: The server gave no reason.']),
  )
  expect(field).toHaveValue('brand new secret')
  expect(within(dialog).getByRole('button', { name: 'Reset' })).not.toHaveAttribute('aria-busy', 'true')
  expect(within(dialog).queryByRole('alert')).not.toBeInTheDocument()
  expect(notifications()).toEqual([])
})

async function deleting() {
  const app = await rendered()
  await choose(app.user, 'bob', 'Delete')
  const dialog = await screen.findByRole('dialog', { name: 'Delete User' })
  return { ...app, dialog, confirm: () => app.user.click(within(dialog).getByRole('button', { name: 'Delete' })) }
}

test('§2 deleting a user asks for confirmation and removes the row', async () => {
  const { dialog, user } = await deleting()
  const { calls, release } = network.delete('/api/users/2').answersLater({})
  expect(dialog).toHaveTextContent('Are you sure you want to delete the user "bob"?')
  await user.keyboard('{Escape}')
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(calls).toHaveLength(0)

  await choose(user, 'bob', 'Delete')
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Delete' }))
  expect(within(screen.getByRole('dialog')).getByRole('button', { name: 'Deleting...' })).toHaveAttribute(
    'aria-busy',
    'true',
  )
  network.get('/api/users').answersLater({})
  release()
  await waitFor(() => expect(screen.queryByRole('listitem', { name: 'bob' })).not.toBeInTheDocument())
  expect(notifications()).toEqual(['Successfully deleted bob'])
  expect(calls).toHaveLength(1)
  // The button that opened the dialog is removed with its row.
  await waitFor(() => expect(screen.getByRole('tabpanel')).toHaveFocus())
})

test('§8 a failed deletion keeps the dialog and the row, and only the problem log records the reason', async () => {
  const { dialog, store, confirm } = await deleting()
  network.delete('/api/users/2').answers(503, { message: 'The database is not reachable' })
  await confirm()
  await waitFor(() => expect(problemsIn(store)).toEqual(['Failed to delete bob: The database is not reachable']))
  expect(within(dialog).getByRole('button', { name: 'Delete' })).not.toHaveAttribute('aria-busy', 'true')
  expect(within(dialog).queryByRole('alert')).not.toBeInTheDocument()
  expect(notifications()).toEqual([])
  expect(screen.getByRole('listitem', { name: 'bob', hidden: true })).toBeInTheDocument()
})

test('the user search matches part of the name, ignoring case', async () => {
  const { user } = await rendered()
  const search = screen.getByRole('searchbox', { name: 'Search users' })
  await user.type(search, 'cAR')
  expect(screen.getAllByRole('listitem').map((item) => item.getAttribute('aria-label'))).toEqual(['Carol'])
  await user.type(search, 'x')
  expect(screen.getByText('No user matches "cARx"')).toBeVisible()
})

test.each([
  ['with the server message', 500, { message: 'Out of order' }, 'Out of order'],
  ['without details when the server sends none', 500, {}, undefined],
])("§8 the page shows 'Failed to load users' %s, with Retry", async (_case, status, body, detail) => {
  network.get('/api/users').answers(status, body)
  const { user } = renderApp('/admin', { signedInAs: '1', isAdmin: true })
  expect(await screen.findByRole('heading', { name: 'Failed to load users' })).toBeVisible()
  if (detail) expect(screen.getByText(detail)).toBeVisible()
  network.get('/api/users').answers({ users: [userOf(1, 'ann', true)] })
  await user.click(screen.getByRole('button', { name: 'Retry' }))
  expect(await row('ann')).toBeVisible()
  expect(screen.queryByText('Failed to load users')).not.toBeInTheDocument()
})

test('a screen reader announces that the users are loading', async () => {
  network.get('/api/users').answersLater({ users: [] })
  renderApp('/admin', { signedInAs: '1', isAdmin: true })
  expect(await screen.findByText('Loading the users')).toBeInTheDocument()
})

test('the list shows the role and when a user was last seen, with the exact time on hover', async () => {
  const seen = new Date(Date.now() - 3.5 * 3_600_000)
  network.get('/api/users').answers({
    users: [
      userOf(1, 'ann', true),
      { ...userOf(2, 'bob'), role: 'limited', last_seen: seen.toISOString() },
      { ...userOf(3, 'carol'), role: 'operator' },
    ],
  })
  renderApp('/admin', { signedInAs: '1', isAdmin: true })
  const bob = within(await row('bob'))
  expect(bob.getByText('Limited')).toBeVisible()
  expect(bob.getByText('3 hours ago')).toHaveAttribute(
    'title',
    new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(seen),
  )
  expect(within(await row('carol')).getByText('not seen recently')).toBeVisible()
  // A server without roles does not report when a user was last seen.
  expect(within(await row('ann')).queryByText('not seen recently')).not.toBeInTheDocument()
})

test('Invite leads to the invite codes with the form open, and Back closes it', async () => {
  const { user } = await rendered()
  network.get('/api/invite-codes').answers({ codes: [] })
  network.get('/api/deployments').answers({ deployments: [] })
  await user.click(screen.getByRole('button', { name: 'Invite' }))
  expect(await screen.findByRole('dialog', { name: 'Create Invite Code' })).toBeVisible()
  expect(window.location.search).toBe('?tab=invites')
  expect(await screen.findByText('No invite codes yet. Each lets one person create an account.')).toBeInTheDocument()
  act(() => window.history.back())
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(await row('bob')).toBeVisible()
})
