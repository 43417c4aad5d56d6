import { screen, waitFor, within } from '@testing-library/react'
import type { InviteCode } from '../../../../src/contract/admin'
import { inviteOf, userOf } from '../../../support/web/factories'
import { network } from '../../../support/web/network'
import { problemsIn } from '../../../support/web/problems'
import { notifications } from '../../../support/web/notifications'
import { renderApp } from '../../../support/web/renderApp'

const messages = () => screen.queryAllByRole('listitem').map((item) => item.getAttribute('aria-label'))
const row = (message: string) => screen.findByRole('listitem', { name: message })

async function rendered(codes: InviteCode[]) {
  network.get('/api/users').answers({ users: [userOf(1, 'ann', true), userOf(2, 'bob')] })
  network.get('/api/invite-codes').answers({ codes })
  const app = renderApp('/admin?tab=invites', { signedInAs: '1', isAdmin: true })
  await screen.findByRole('button', { name: 'Create Invite Code' })
  if (codes[0]) await row(codes[0].message)
  else await screen.findByText('No invite codes yet. Each lets one person create an account.')
  return app
}

beforeEach(() => jest.spyOn(console, 'warn').mockReturnValue())
afterEach(() => jest.restoreAllMocks())

test.each([
  ['Revoked', { revoked: true, is_expired: true, used_by: 'bob' }],
  ['Expired', { is_expired: true, used_by: 'bob' }],
  ['Used', { used_by: 'bob' }],
  ['Active', {}],
] as const)('§4 the status is %s for %p, in the precedence of the specification', async (status, more) => {
  await rendered([inviteOf('CODE-1', 'for bob', more)])
  expect(within(await row('for bob')).getByText(status)).toBeVisible()
})

test('only an active invite code shows its expiry, if the server reports one', async () => {
  const until = { expires_at: new Date(Date.now() + 3.5 * 86_400_000).toISOString() }
  await rendered([
    inviteOf('A-1', 'active', until),
    inviteOf('B-1', 'used', { ...until, used_by: 'bob' }),
    inviteOf('C-1', 'unknown'),
    inviteOf('D-1', 'odd', { expires_at: 'in a week' }),
  ])
  const when = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(
    Date.parse(until.expires_at),
  )
  expect(await row('active')).toHaveTextContent('expires in 3 days')
  const time = within(await row('active')).getByText('in 3 days')
  expect(time).toHaveAttribute('datetime', until.expires_at)
  expect(time).toHaveAttribute('title', when)
  for (const message of ['used', 'unknown', 'odd']) expect(await row(message)).not.toHaveTextContent('expires')
})

test('§2 active invite codes come first, then the newest; each row shows code, message and user', async () => {
  await rendered([
    inviteOf('OLD-1', 'old', { created_at: '2026-10-01T10:00:00.000Z', used_by: 'bob' }),
    inviteOf('GONE-1', 'of somebody who left', { created_at: '2026-09-01T10:00:00.000Z', used_by: 'eve' }),
    inviteOf('NEW-1', 'revoked', { created_at: '2026-11-01T10:00:00.000Z', revoked: true }),
    inviteOf('OPEN-1', 'open', { created_at: '2026-08-01T10:00:00.000Z' }),
  ])
  expect(messages()).toEqual(['open', 'revoked', 'old', 'of somebody who left'])
  expect(await row('old')).toHaveTextContent(/OLD-1.*used by bob/)
  expect(await within(await row('old')).findByRole('link', { name: 'bob' })).toHaveAttribute('href', '/admin/users/2')
  // A user who was deleted has no page.
  expect(within(await row('of somebody who left')).queryByRole('link')).not.toBeInTheDocument()
})

test('invite codes are filtered by their status, with the number of each', async () => {
  const { user, store } = await rendered([
    inviteOf('A-1', 'open'),
    inviteOf('B-1', 'also open'),
    inviteOf('C-1', 'used', { used_by: 'bob' }),
    inviteOf('D-1', 'over', { is_expired: true }),
  ])
  const filter = within(screen.getByRole('radiogroup', { name: 'Status' }))
  expect(filter.getAllByRole('radio').map((radio) => radio.closest('label')!.textContent)).toEqual([
    'All 4',
    'Active 2',
    'Used 1',
    'Expired 1',
    'Revoked 0',
  ])
  await user.click(filter.getByRole('radio', { name: 'Active 2' }))
  expect(messages()).toEqual(['open', 'also open'])
  expect(store.getState().admin?.inviteFilter).toBe('Active')
  await user.click(filter.getByRole('radio', { name: 'Revoked 0' }))
  expect(screen.getByText('No invite code is revoked')).toBeVisible()
  // The numbers are of what the search finds.
  await user.type(screen.getByRole('searchbox', { name: 'Search invite codes' }), 'OPEN')
  expect(filter.getByRole('radio', { name: 'All 2' })).toBeVisible()
})

test('a new invite code is shown whatever the filter was', async () => {
  const { user } = await rendered([inviteOf('A-1', 'over', { is_expired: true })])
  await user.click(screen.getByRole('radio', { name: 'Expired 1' }))
  network.post('/api/invite-codes').answers({ code: 'NEW-1' })
  await user.click(screen.getByRole('button', { name: 'Create Invite Code' }))
  const field = within(await screen.findByRole('dialog')).getByLabelText('Message')
  network
    .get('/api/invite-codes')
    .answers({ codes: [inviteOf('A-1', 'over', { is_expired: true }), inviteOf('NEW-1', 'for eve')] })
  await user.type(field, 'for eve{Enter}')
  expect(await row('for eve')).toBeVisible()
})

test('the list shows the role and rights that an invite code gives', async () => {
  const grant = (deployment: string) => ({ deployment, rights: ['view' as const, 'console' as const] })
  await rendered([
    inviteOf('A-1', 'one', { role: 'limited', grants: [grant('lobby')] }),
    inviteOf('B-1', 'two', { role: 'limited', grants: [grant('lobby'), grant('arena')] }),
    inviteOf('C-1', 'three', { role: 'limited', grants: ['a', 'b', 'c'].map(grant) }),
    inviteOf('D-1', 'all', { role: 'operator' }),
    inviteOf('E-1', 'none named'),
    inviteOf('F-1', 'used', { used_by: 'Carol' }),
  ])
  expect(within(await row('one')).getByText('Limited to lobby')).toHaveAttribute('title', 'lobby: View, Console')
  expect(await row('two')).toHaveTextContent('Limited to lobby and arena')
  expect(await row('three')).toHaveTextContent('Limited to 3 deployments')
  expect(await row('all')).toHaveTextContent('Operator')
  expect(await row('none named')).toHaveTextContent('Operator')
  // The first user becomes an administrator.
  expect(await row('used')).not.toHaveTextContent('Operator')
})

test.each([
  ['code-b', ['second']],
  ['SECO', ['second']],
  ['carol', ['first']],
  ['  code  ', ['second', 'first']],
  ['nothing like it', []],
])('§2 the search %p matches code, message and used_by, ignoring case', async (text, found) => {
  const { user, store } = await rendered([
    inviteOf('CODE-A', 'first', { used_by: 'Carol' }),
    inviteOf('CODE-B', 'second'),
  ])
  await user.type(screen.getByRole('searchbox', { name: 'Search invite codes' }), text)
  expect(messages()).toEqual(found)
  if (found.length === 0) expect(screen.getByText('No invite code matches your search')).toBeVisible()
  // The search text may be an invite code.
  expect(JSON.stringify(store.getState().admin)).not.toContain(text.trim())
})

test('§2 only active invite codes have buttons to copy the code and a registration link', async () => {
  const { user } = await rendered([inviteOf('A/B?1', 'open'), inviteOf('GONE', 'gone', { revoked: true })])
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  for (const what of ['code', 'link']) {
    const button = within(await row('open')).getByRole('button', { name: `Copy ${what} of "open"` })
    await user.click(button)
    expect(await within(button).findByText('Copied')).toBeInTheDocument()
  }
  expect(write.mock.calls).toEqual([['A/B?1'], [`${window.location.origin}/register?invite=A%2FB%3F1`]])
  expect(within(await row('gone')).queryByRole('button', { name: /^Copy/ })).not.toBeInTheDocument()
})

test('§2 an invite code is created with a message and appears in the list', async () => {
  const { user, store } = await rendered([])
  const { calls } = network.post('/api/invite-codes').answers({ code: 'SECRET-CODE' })
  await user.click(screen.getByRole('button', { name: 'Create Invite Code' }))
  const dialog = await screen.findByRole('dialog', { name: 'Create Invite Code' })
  await user.type(within(dialog).getByLabelText('Message'), '  for bob ')
  expect(store.getState().admin?.dialog).toEqual({ kind: 'createInvite', message: '  for bob ' })
  network.get('/api/invite-codes').answers({ codes: [inviteOf('SECRET-CODE', 'for bob')] })
  await user.click(within(dialog).getByRole('button', { name: 'Create' }))
  expect(await row('for bob')).toBeVisible()
  expect(calls.map(({ body }) => body)).toEqual([{ message: 'for bob' }])
  expect(notifications()).toEqual(['Successfully created the invite code'])
})

test.each([[''], ['   ']])('§5 an invite message of %p is rejected before a request is sent', async (text) => {
  const { user } = await rendered([])
  const { calls } = network.post('/api/invite-codes').answers({})
  await user.click(screen.getByRole('button', { name: 'Create Invite Code' }))
  const field = within(await screen.findByRole('dialog')).getByLabelText('Message')
  if (text) await user.type(field, text)
  await user.click(screen.getByRole('button', { name: 'Create' }))
  expect(field).toBeInvalid()
  expect(field).toHaveAccessibleDescription('Message cannot be empty')
  expect(calls).toHaveLength(0)
})

test('§8 a failed creation keeps the message in the dialog, and only the problem log records the reason', async () => {
  const { user, store } = await rendered([])
  network.post('/api/invite-codes').answers(429, { message: 'Too many codes' })
  await user.click(screen.getByRole('button', { name: 'Create Invite Code' }))
  const dialog = await screen.findByRole('dialog')
  await user.type(within(dialog).getByLabelText('Message'), 'for bob{Enter}')
  await waitFor(() => expect(problemsIn(store)).toEqual(['Failed to create the invite code: Too many codes']))
  expect(within(dialog).queryByRole('alert')).not.toBeInTheDocument()
  expect(within(dialog).getByLabelText('Message')).toHaveValue('for bob')
  expect(notifications()).toEqual([])
})

test('§2 the dialog deletes the selected invite code, even if two were created at the same time', async () => {
  const { user, store } = await rendered([inviteOf('TWIN-1', 'first'), inviteOf('TWIN-2', 'second')])
  const { calls } = network.delete('/api/invite-codes/TWIN-2').answers({})
  await user.click(within(await row('second')).getByRole('button', { name: 'Delete the invite code "second"' }))
  const dialog = await screen.findByRole('dialog', { name: 'Delete Invite Code' })
  expect(dialog).toHaveTextContent('Are you sure you want to delete the invite code TWIN-2 ("second")?')
  // An invite code allows registration: the slice identifies it in another way.
  expect(JSON.stringify(store.getState().admin)).not.toContain('TWIN')
  network
    .get('/api/invite-codes')
    .answers({ codes: [inviteOf('TWIN-1', 'first'), inviteOf('TWIN-2', 'second', { revoked: true })] })
  await user.click(within(dialog).getByRole('button', { name: 'Delete' }))
  expect(await within(await row('second')).findByText('Revoked')).toBeVisible()
  expect(calls).toHaveLength(1)
  expect(notifications()).toEqual(['Successfully deleted the invite code'])
})

test('§2 a deleted used code leaves the list, and focus stays in the tab', async () => {
  const { user } = await rendered([inviteOf('CODE-1', 'for bob', { used_by: 'bob' }), inviteOf('CODE-2', 'other')])
  network.delete('/api/invite-codes/CODE-1').answers({})
  await user.click(await screen.findByRole('button', { name: 'Delete the invite code "for bob"' }))
  const { release } = network.get('/api/invite-codes').answersLater({ codes: [inviteOf('CODE-2', 'other')] })
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Delete' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(screen.getByRole('button', { name: 'Delete the invite code "for bob"' })).toHaveFocus()
  release()
  await waitFor(() => expect(messages()).toEqual(['other']))
  await waitFor(() => expect(screen.getByRole('tabpanel')).toHaveFocus())
})

test('§8 a failed deletion keeps its dialog open, and only the problem log records the reason', async () => {
  const { user, store } = await rendered([inviteOf('CODE-1', 'for bob')])
  network.delete('/api/invite-codes/CODE-1').answers(404, { message: 'This invite code does not exist.' })
  await user.click(await screen.findByRole('button', { name: 'Delete the invite code "for bob"' }))
  const dialog = await screen.findByRole('dialog')
  await user.click(within(dialog).getByRole('button', { name: 'Delete' }))
  await waitFor(() =>
    expect(problemsIn(store)).toEqual(['Failed to delete the invite code: This invite code does not exist.']),
  )
  expect(within(dialog).queryByRole('alert')).not.toBeInTheDocument()
  expect(notifications()).toEqual([])
})

test('a code that the list shows as Active is only revoked; if it was used meanwhile, the dialog names its user', async () => {
  const { user } = await rendered([inviteOf('CODE-1', 'for bob')])
  const { calls } = network.delete('/api/invite-codes/CODE-1').answers(409, { message: 'Used' })
  await user.click(await screen.findByRole('button', { name: 'Delete the invite code "for bob"' }))
  const dialog = await screen.findByRole('dialog')
  network.get('/api/invite-codes').answers({ codes: [inviteOf('CODE-1', 'for bob', { used_by: 'mallory' })] })
  await user.click(within(dialog).getByRole('button', { name: 'Delete' }))
  await waitFor(() => expect(dialog).toHaveTextContent('"mallory" has registered with it. Their account remains.'))
  expect(calls[0]?.query).toBe('?revoke=true')
})

test("§8 the tab shows 'Failed to load invite codes' with Retry", async () => {
  network.get('/api/invite-codes').isUnreachable()
  const { user } = renderApp('/admin?tab=invites', { signedInAs: '1', isAdmin: true })
  expect(await screen.findByRole('heading', { name: 'Failed to load invite codes' })).toBeVisible()
  expect(screen.getByText('The server could not be reached.')).toBeVisible()
  network.get('/api/invite-codes').answers({ codes: [inviteOf('CODE-1', 'for bob')] })
  await user.click(screen.getByRole('button', { name: 'Retry' }))
  expect(await row('for bob')).toBeVisible()
})
