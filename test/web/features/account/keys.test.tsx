import { screen, waitFor, within } from '@testing-library/react'
import type { ApiKey } from '../../../../src/contract/access'
import { deploymentOf } from '../../../support/web/factories'
import { network } from '../../../support/web/network'
import { recordActions } from '../../../support/web/recordedActions'
import { renderApp } from '../../../support/web/renderApp'

const SECRET = `qd_${'a1B2c3D4'.repeat(5)}`

const keyOf = (name: string, more: Partial<ApiKey> = {}): ApiKey => ({
  id: `id-of-${name}`,
  name,
  scopes: ['read', 'console'],
  prefix: 'qd_a1B2',
  created_at: '2026-11-01T10:00:00.000Z',
  ...more,
})

async function rendered(keys: ApiKey[], { isAdmin = true } = {}) {
  network.get('/api/keys').answers({ keys })
  network.get('/api/deployments').answers({ deployments: [deploymentOf('lobby'), deploymentOf('arena')] })
  const app = renderApp('/keys', { signedInAs: '1', isAdmin })
  await screen.findByRole('heading', { name: 'API keys' })
  return app
}

async function creating(more: { isAdmin?: boolean } = {}) {
  const app = await rendered([], more)
  await app.user.click(screen.getByRole('button', { name: 'Create API key' }))
  const dialog = await screen.findByRole('dialog', { name: 'Create API Key' })
  return {
    ...app,
    dialog,
    create: () => app.user.click(within(dialog).getByRole('button', { name: 'Create' })),
  }
}

beforeEach(() => jest.spyOn(console, 'warn').mockReturnValue())
afterEach(() => jest.restoreAllMocks())

test('the user menu leads to the API keys', async () => {
  network.get('/api/keys').answers({ keys: [] })
  network.shows([])
  const { user } = renderApp('/', { signedInAs: '1' })
  await user.click(await screen.findByRole('button', { name: 'Your account' }))
  await user.click(screen.getByRole('menuitem', { name: 'API keys' }))
  expect(await screen.findByText('You have no API keys yet')).toBeVisible()
})

test('decisions §16: the list shows what each key may do, where, and when it was used and ends', async () => {
  await rendered([
    keyOf('nightly', { deployments: ['lobby', 'arena'], expires_at: '2100-01-02T10:00:00.000Z' }),
    keyOf('old', { expires_at: '2020-01-02T10:00:00.000Z', last_used_at: '2026-11-01T10:00:00.000Z' }),
    keyOf('orphan', { deployments: [] }),
  ])
  const nightly = await screen.findByRole('listitem', { name: 'nightly' })
  expect(nightly).toHaveTextContent(/qd_a1B2….*Read.*Console.*on lobby, arena.*never used · expires in \d\d years/)
  expect(screen.getByRole('listitem', { name: 'old' })).toHaveTextContent(
    /on all deployments.*used .* · expired \d+ years ago/,
  )
  expect(screen.getByRole('listitem', { name: 'orphan' })).toHaveTextContent(/on none.*does not expire/)
})

test('decisions §16: a new key is shown once and copied, and no part of it enters the store or an action', async () => {
  const { user, store, dialog, create } = await creating()
  const actions = recordActions()
  const created = network.post('/api/keys').answers({ key: SECRET, info: keyOf('nightly') })
  network.get('/api/keys').answers({ keys: [keyOf('nightly')] })
  await user.type(within(dialog).getByLabelText('Name'), '  nightly ')
  await user.click(within(dialog).getByRole('checkbox', { name: 'Console' }))
  await user.click(within(dialog).getByRole('radio', { name: 'Selected deployments' }))
  await user.click(await within(dialog).findByRole('checkbox', { name: 'lobby' }))
  await user.selectOptions(within(dialog).getByLabelText('Expiry'), 'Never')
  await create()

  const shown = await screen.findByRole('dialog', { name: 'Your New API Key' })
  expect(within(shown).getByText(SECRET)).toBeVisible()
  expect(shown).toHaveTextContent('Copy the key of nightly now: it will not be shown again.')
  expect(created.calls.map(({ body }) => body)).toEqual([
    { name: 'nightly', scopes: ['read', 'console'], deployments: ['lobby'] },
  ])
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(within(shown).getByRole('button', { name: 'Copy API key' }))
  await waitFor(() => expect(write.mock.calls).toEqual([[SECRET]]))

  const secret = SECRET.slice('qd_a1B2'.length)
  expect(JSON.stringify(store.getState())).not.toContain(secret)
  expect(actions()).toContain('keys/creationTried')
  expect(actions()).not.toContain(secret)
  await user.click(within(shown).getByRole('button', { name: 'I have copied it' }))
  await waitFor(() => expect(screen.queryByText(SECRET)).not.toBeInTheDocument())
  expect(await screen.findByRole('listitem', { name: 'nightly' })).toBeVisible()
})

test.each([
  ['30', 30],
  ['90', 90],
  ['365', 365],
])('a key with an expiry of %s days is requested with that expiry', async (expiry, days) => {
  const { user, dialog, create } = await creating()
  const { calls } = network.post('/api/keys').answers({ key: SECRET, info: keyOf('nightly') })
  await user.type(within(dialog).getByLabelText('Name'), 'nightly')
  await user.selectOptions(within(dialog).getByLabelText('Expiry'), expiry)
  await create()
  await screen.findByRole('dialog', { name: 'Your New API Key' })
  const { expires_at } = calls[0]!.body as { expires_at: string }
  expect(Math.round((Date.parse(expires_at) - Date.now()) / 86_400_000)).toBe(days)
})

test('a form without a name, scope, deployment or valid date shows an error at each and sends nothing', async () => {
  const { user, dialog, create } = await creating()
  const { calls } = network.post('/api/keys').answers({})
  await user.click(within(dialog).getByRole('checkbox', { name: 'Read' }))
  await user.click(within(dialog).getByRole('radio', { name: 'Selected deployments' }))
  await user.selectOptions(within(dialog).getByLabelText('Expiry'), 'On a date')
  await create()
  expect(within(dialog).getByLabelText('Name')).toHaveAccessibleDescription('Give the key a name')
  expect(within(dialog).getByRole('group', { name: 'Scopes' })).toHaveAccessibleDescription('Choose at least one')
  expect(within(dialog).getByRole('group', { name: 'Deployments' })).toHaveAccessibleDescription('Choose at least one')
  expect(within(dialog).getByLabelText('Last day')).toHaveAccessibleDescription('Choose today or a later date')
  expect(calls).toEqual([])
})

test.each([
  ['name', 'name: must have at most 100 characters', 'Must have at most 100 characters'],
  ['scopes', 'scopes: a key cannot have "admin"', 'A key cannot have "admin"'],
  ['deployments', 'deployments: one of them does not exist', 'One of them does not exist'],
])('an error of the platform about %s is shown at its field', async (field, message, shown) => {
  const { user, dialog, create } = await creating()
  network.post('/api/keys').answers(400, { code: 'INVALID_INPUT', field, message })
  await user.type(within(dialog).getByLabelText('Name'), 'nightly')
  await create()
  expect(await within(dialog).findByText(shown)).toBeVisible()
  const place =
    field === 'name'
      ? within(dialog).getByLabelText('Name')
      : within(dialog).getByRole('group', { name: field === 'scopes' ? 'Scopes' : 'Deployments' })
  expect(place).toHaveAccessibleDescription(shown)
})

test('a failure that concerns no field is shown above the form, which stays as it is', async () => {
  const { user, dialog, create } = await creating()
  network.post('/api/keys').answers(409, { code: 'CONFLICT', message: 'You have 100 API keys already.' })
  await user.type(within(dialog).getByLabelText('Name'), 'nightly')
  await create()
  expect(await within(dialog).findByRole('alert')).toHaveTextContent('You have 100 API keys already.')
  expect(within(dialog).getByLabelText('Name')).toHaveValue('nightly')
})

test.each([
  [true, true],
  [false, false],
])('decisions §16: an administrator (%p) is offered the scope admin (%p)', async (isAdmin, isOffered) => {
  const { dialog } = await creating({ isAdmin })
  expect(within(dialog).queryByRole('checkbox', { name: 'Admin' }) !== null).toBe(isOffered)
})

test('decisions §16: a limited user is not offered the scope databases', async () => {
  network.get('/api/account').answers({ role: 'limited', grants: [{ deployment: 'lobby', rights: ['view'] }] })
  const { dialog } = await creating({ isAdmin: false })
  await waitFor(() => expect(within(dialog).queryByRole('checkbox', { name: 'Databases' })).not.toBeInTheDocument())
  expect(within(dialog).getByRole('checkbox', { name: 'Files' })).toBeVisible()
})

test('deleting a key asks for confirmation and removes it', async () => {
  const { user } = await rendered([keyOf('nightly'), keyOf('other')])
  const { calls } = network.delete('/api/keys/id-of-nightly').answers({})
  await user.click(await screen.findByRole('button', { name: 'Delete the API key nightly' }))
  const dialog = await screen.findByRole('dialog', { name: 'Delete API Key' })
  expect(dialog).toHaveTextContent('Are you sure you want to delete nightly?')
  network.get('/api/keys').answers({ keys: [keyOf('other')] })
  await user.click(within(dialog).getByRole('button', { name: 'Delete' }))
  await waitFor(() => expect(screen.queryByRole('listitem', { name: 'nightly' })).not.toBeInTheDocument())
  expect(screen.getByRole('listitem', { name: 'other' })).toBeVisible()
  expect(calls).toHaveLength(1)
})

test('on a server without API keys the page says that the server does not offer them', async () => {
  network.get('/api/keys').answers(404)
  renderApp('/keys', { signedInAs: '1' })
  expect(await screen.findByText('This server does not offer API keys.')).toBeVisible()
})
