import { screen, waitFor, within } from '@testing-library/react'
import type { UserAccess } from '../../../../src/contract/access'
import { RIGHTS } from '../../../../src/contract/pageRules'
import type { UserMethods } from '../../../../src/web/api/users'
import { activityOf, deploymentOf, userOf } from '../../../support/web/factories'
import { navigate } from '../../../support/web/navigate'
import { network } from '../../../support/web/network'
import { problemsIn } from '../../../support/web/problems'
import { renderApp } from '../../../support/web/renderApp'

const sessionOf = (id: string, device: string, current = false) => ({
  id,
  device,
  address: '10.0.0.9',
  created_at: '2026-11-01T10:00:00.000Z',
  last_used_at: '2026-11-01T10:00:00.000Z',
  current,
})
const LIMITED: UserAccess = { role: 'limited', grants: [{ deployment: 'lobby', rights: ['view', 'console'] }] }
const METHODS: UserMethods = {
  authenticators: [{ id: 'm1', name: 'Phone', created_at: '2026-11-01T10:00:00.000Z' }],
  passkeys: [
    { id: 'm2', name: 'Laptop', created_at: '2026-11-01T10:00:00.000Z', last_used_at: new Date().toISOString() },
  ],
  recoveryCodes: 8,
  hasPassword: true,
  singleSignOn: false,
}
const users = [
  { ...userOf(1, 'ann', true), role: 'administrator' as const },
  { ...userOf(2, 'bob'), role: 'limited' as const, last_seen: new Date(Date.now() - 120_000).toISOString() },
]

async function rendered(
  id: number,
  access: UserAccess = LIMITED,
  deployments = ['lobby', 'arena'],
  methods: UserMethods = METHODS,
) {
  network.get('/api/users').answers({ users })
  network.get(`/api/users/${id}/access`).answers(access)
  network.get(`/api/users/${id}/sessions`).answers({
    sessions: [sessionOf('s1', 'Mozilla/5.0 (X11; Linux) Firefox/130.0', id === 1), sessionOf('s2', 'curl/8')],
  })
  network.get(`/api/users/${id}/methods`).answers(methods)
  network.get(`/api/users/${id}/keys`).answers({
    keys: [{ id: 'k1', name: 'nightly', scopes: ['read'], prefix: 'qd_a1B2', created_at: '2026-11-01T10:00:00.000Z' }],
  })
  network.get('/api/deployments').answers({ deployments: deployments.map((name) => deploymentOf(name)) })
  const activity = network
    .get('/api/activity')
    .answers({ entries: [activityOf(1, { username: 'bob' })], hasMore: false })
  const app = renderApp(`/admin/users/${id}`, { signedInAs: '1', isAdmin: true })
  await screen.findByRole('heading', { name: id === 1 ? /^ann/ : 'bob' })
  return { ...app, activity }
}
const box = (name: string) => screen.findByRole('checkbox', { name })
const save = () => screen.getByRole('button', { name: 'Save rights' })

beforeEach(() => jest.spyOn(console, 'warn').mockReturnValue())
afterEach(() => jest.restoreAllMocks())

test('the name in the list of users leads to the user’s page', async () => {
  network.get('/api/users').answers({ users })
  const { user } = renderApp('/admin', { signedInAs: '1', isAdmin: true })
  expect(await screen.findByRole('listitem', { name: 'bob' })).toHaveTextContent(/Limitedseen \d minutes? ago/)
  await user.click(screen.getByRole('link', { name: 'bob' }))
  expect(await screen.findByRole('heading', { name: 'bob' })).toBeVisible()
})

test('decisions §16: the page shows role, rights, sessions, API keys and what the user did', async () => {
  const { activity } = await rendered(2)
  expect(await screen.findByRole('radio', { name: 'Limited' })).toBeChecked()
  expect(screen.getByRole('main')).toHaveTextContent(/bobLimited · seen \d minutes? ago/)
  expect(await box('Console on lobby')).toBeChecked()
  expect(await box('Power on lobby')).not.toBeChecked()
  expect(await box('All rights of lobby')).toBePartiallyChecked()
  expect(await box('View on arena')).not.toBeChecked()
  expect(screen.getByText('1 of 2 deployments chosen')).toBeVisible()
  expect(await screen.findByText('Firefox on Linux')).toBeVisible()
  expect(await screen.findByRole('listitem', { name: 'nightly' })).toHaveTextContent('qd_a1B2…')
  expect(await screen.findByText('deleted deployment', { exact: false })).toBeVisible()
  expect(activity.calls[0]?.query).toBe('?username=bob')
  expect(screen.getByRole('link', { name: 'All activity' })).toHaveAttribute('href', '/activity?username=bob')
})

test('the page shows how the user signs in', async () => {
  await rendered(2)
  const methods = within(await screen.findByRole('region', { name: 'Sign-in methods' }))
  expect((await methods.findAllByRole('listitem')).map((row) => row.getAttribute('aria-label'))).toEqual([
    'Password',
    'Laptop',
    'Phone',
    'Recovery codes',
  ])
  expect(methods.getByRole('listitem', { name: 'Laptop' })).toHaveTextContent(/passkey · added .* · used .*now/)
  expect(methods.getByRole('listitem', { name: 'Phone' })).toHaveTextContent(/six-digit codes · .* · never used/)
  expect(methods.getByRole('listitem', { name: 'Recovery codes' })).toHaveTextContent('8 codes left')
})

test('an account of single sign-on has no password and no codes', async () => {
  const none = { authenticators: [], passkeys: [], recoveryCodes: 0, hasPassword: false, singleSignOn: true }
  await rendered(2, LIMITED, ['lobby'], none)
  const methods = within(await screen.findByRole('region', { name: 'Sign-in methods' }))
  const [row, ...others] = await methods.findAllByRole('listitem')
  expect(row).toHaveTextContent('Single sign-oncreated this account, which has no password')
  expect(others).toEqual([])
})

test('decisions §16: rights are chosen one by one or all of a deployment, and are saved together', async () => {
  const { user } = await rendered(2)
  const { calls } = network.put('/api/users/2/access').answers({})
  await box('Power on lobby')
  expect(save()).toBeDisabled()
  await user.click(await box('Power on lobby'))
  await user.click(await box('Files on arena'))
  // Every right includes the view.
  expect(await box('View on arena')).toBeChecked()
  await user.click(await box('All rights of arena'))
  expect(await box('Backups on arena')).toBeChecked()
  expect(screen.getByText('Unsaved changes')).toBeVisible()
  await user.click(save())
  await waitFor(() => expect(screen.queryByText('Unsaved changes')).not.toBeInTheDocument())
  expect(calls.map(({ body }) => body)).toEqual([
    {
      role: 'limited',
      grants: [
        { deployment: 'lobby', rights: ['view', 'console', 'power'] },
        { deployment: 'arena', rights: [...RIGHTS] },
      ],
    },
  ])
})

test('rights that another administrator has changed since are not replaced without a word', async () => {
  const { user } = await rendered(2)
  await user.click(await box('Power on lobby'))
  expect(screen.getByText('Unsaved changes')).toBeVisible()

  navigate('/admin')
  await screen.findByRole('heading', { level: 1, name: 'Administration' })
  network.get('/api/users/2/access').answers({ role: 'limited', grants: [{ deployment: 'lobby', rights: ['view'] }] })
  navigate('/admin/users/2')
  expect(await screen.findByText(/^Unsaved changes\. These rights were changed elsewhere since:/)).toBeVisible()

  await user.click(screen.getByRole('button', { name: 'Discard' }))
  expect(await box('Console on lobby')).not.toBeChecked()
  expect(screen.queryByText(/^Unsaved changes/)).not.toBeInTheDocument()
})

test('a right on a deployment that was deleted meanwhile can be taken away', async () => {
  const { user } = await rendered(2, {
    ...LIMITED,
    grants: [...LIMITED.grants, { deployment: 'old', rights: ['view'] }],
  })
  const { calls } = network.put('/api/users/2/access').answers({})
  await user.click(await box('View on old'))
  expect(screen.queryByRole('checkbox', { name: 'View on old' })).not.toBeInTheDocument()
  expect(screen.getByText('1 of 2 deployments chosen')).toBeVisible()
  await user.click(save())
  await waitFor(() => expect(calls.map(({ body }) => body)).toEqual([LIMITED]))
})

test('removing the right view removes all rights on a deployment, and a user with another role has no grants', async () => {
  const { user } = await rendered(2)
  const { calls } = network.put('/api/users/2/access').answers({})
  await user.click(await box('View on lobby'))
  expect(await box('Console on lobby')).not.toBeChecked()
  expect(screen.getByText(/^None chosen/)).toBeVisible()
  await user.click(await box('Console on arena'))
  await user.click(screen.getByRole('radio', { name: 'Operator' }))
  expect(screen.queryByRole('checkbox', { name: 'Console on arena' })).not.toBeInTheDocument()
  await user.click(save())
  await waitFor(() => expect(calls.map(({ body }) => body)).toEqual([{ role: 'operator', grants: [] }]))
})

test('a failed save keeps the changed rights and shows the reason', async () => {
  const { user, store } = await rendered(2)
  network
    .put('/api/users/2/access')
    .answers(400, { code: 'INVALID_INPUT', field: 'grants', message: 'grants: there is no deployment named "arena"' })
  await user.click(await box('View on arena'))
  await user.click(save())
  expect(await screen.findByText('grants: there is no deployment named "arena"')).toBeVisible()
  expect(await box('View on arena')).toBeChecked()
  expect(screen.getByText('Unsaved changes')).toBeVisible()
  expect(problemsIn(store)).toEqual([
    'Failed to change the rights of bob: grants: there is no deployment named "arena"',
  ])
})

test('unsaved rights survive a visit to another page and can be discarded', async () => {
  const { user } = await rendered(2)
  await user.click(await box('View on arena'))
  await user.click(screen.getByRole('link', { name: 'Back to all users' }))
  await user.click(await screen.findByRole('link', { name: 'bob' }))
  expect(await box('View on arena')).toBeChecked()
  await user.click(screen.getByRole('button', { name: 'Discard' }))
  expect(await box('View on arena')).not.toBeChecked()
  expect(save()).toBeDisabled()
})

test('a search narrows many deployments to those whose name matches', async () => {
  const names = Array.from({ length: 12 }, (_, number) => `world-${number}`)
  const { user } = await rendered(2, LIMITED, ['lobby', ...names])
  await user.type(await screen.findByRole('searchbox', { name: 'Search deployments' }), 'LOB')
  expect(screen.getByRole('group', { name: 'lobby' })).toBeVisible()
  expect(screen.queryByRole('group', { name: 'world-1' })).not.toBeInTheDocument()
})

test('one session or all of them are ended after a confirmation', async () => {
  const { user } = await rendered(2)
  const one = network.delete('/api/users/2/sessions/s2').answers({})
  await user.click(await screen.findByRole('button', { name: 'End the session of curl at 10.0.0.9' }))
  network.get('/api/users/2/sessions').answers({ sessions: [sessionOf('s1', 'curl/8'), sessionOf('s3', 'curl/8')] })
  await user.click(
    within(await screen.findByRole('dialog', { name: 'End Session' })).getByRole('button', { name: 'End' }),
  )
  await waitFor(() => expect(one.calls).toHaveLength(1))
  const all = network.delete('/api/users/2/sessions').answers({})
  await user.click(await screen.findByRole('button', { name: 'End all' }))
  network.get('/api/users/2/sessions').answers({ sessions: [] })
  const dialog = await screen.findByRole('dialog', { name: 'End All Sessions' })
  await user.click(within(dialog).getByRole('button', { name: 'End' }))
  expect(await screen.findByText('No open sessions')).toBeVisible()
  expect(all.calls).toHaveLength(1)
})

test('an API key of another user is deleted after a confirmation', async () => {
  const { user } = await rendered(2)
  const { calls } = network.delete('/api/users/2/keys/k1').answers({})
  await user.click(await screen.findByRole('button', { name: 'Delete the API key nightly' }))
  network.get('/api/users/2/keys').answers({ keys: [] })
  const dialog = await screen.findByRole('dialog', { name: 'Delete API Key' })
  await user.click(within(dialog).getByRole('button', { name: 'Delete' }))
  expect(await screen.findByText('No API keys')).toBeVisible()
  expect(calls).toHaveLength(1)
})

test('decisions §2: one’s own page says that one’s own rights cannot be changed', async () => {
  await rendered(1, { role: 'administrator', grants: [] })
  expect(await screen.findByText(/You cannot change your own rights/)).toBeVisible()
  expect(screen.queryByRole('radio')).not.toBeInTheDocument()
  expect(screen.queryByRole('button', { name: 'Save rights' })).not.toBeInTheDocument()
  const current = (await screen.findByText('This session')).closest('li')!
  expect(within(current).queryByRole('button')).not.toBeInTheDocument()
})

test('the page of a user who does not exist shows that there is no such user', async () => {
  network.get('/api/users').answers({ users })
  renderApp('/admin/users/99', { signedInAs: '1', isAdmin: true })
  expect(await screen.findByRole('heading', { name: 'User Not Found' })).toBeVisible()
})

test('only administrators can open the page of a user', async () => {
  renderApp('/admin/users/2', { signedInAs: '2' })
  expect(await screen.findByRole('heading', { name: 'Administrators only' })).toBeVisible()
})

test('an invite code carries the chosen role with its rights, and the list shows the role', async () => {
  network.get('/api/invite-codes').answers({ codes: [] })
  network.get('/api/deployments').answers({ deployments: [deploymentOf('lobby')] })
  const { user } = renderApp('/admin?tab=invites', { signedInAs: '1', isAdmin: true })
  const { calls } = network.post('/api/invite-codes').answers({ code: 'SECRET-CODE' })
  await user.click(await screen.findByRole('button', { name: 'Create Invite Code' }))
  const dialog = await screen.findByRole('dialog', { name: 'Create Invite Code' })
  expect(within(dialog).getByRole('radio', { name: 'Operator' })).toBeChecked()
  await user.type(within(dialog).getByLabelText('Message'), 'for bob')
  await user.click(within(dialog).getByRole('radio', { name: 'Limited' }))
  await user.click(await within(dialog).findByRole('checkbox', { name: 'Console on lobby' }))
  const invite = { code: 'SECRET-CODE', message: 'for bob', created_at: '2026-11-01T10:00:00.000Z', ...LIMITED }
  network.get('/api/invite-codes').answers({ codes: [{ ...invite, used_by: null, revoked: false, is_expired: false }] })
  await user.click(within(dialog).getByRole('button', { name: 'Create' }))
  expect(await screen.findByRole('listitem', { name: 'for bob' })).toHaveTextContent('Limited to lobby')
  expect(calls.map(({ body }) => body)).toEqual([{ message: 'for bob', ...LIMITED }])
})

test('the activity page shows the actions of one user when its URL names the user', async () => {
  const { calls } = network.get('/api/activity').answers({ entries: [activityOf(1)], hasMore: false })
  network.get('/api/users').answers({ users })
  network.get('/api/deployments').answers({ deployments: [] })
  const { user } = renderApp('/activity?username=a-deleted-user', { signedInAs: '1', isAdmin: true })
  const choice = await screen.findByRole('combobox', { name: 'User' })
  expect(choice).toHaveValue('a-deleted-user')
  expect(calls[0]?.query).toBe('?username=a-deleted-user')
  await within(choice).findByRole('option', { name: 'bob' })
  await user.selectOptions(choice, 'bob')
  await waitFor(() => expect(calls.at(-1)?.query).toBe('?username=bob'))
  expect(window.location.search).toBe('?username=bob')
  await user.selectOptions(choice, 'All users')
  await waitFor(() => expect(calls.at(-1)?.query).toBe(''))
})
