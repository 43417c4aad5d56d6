import { act, screen, waitFor } from '@testing-library/react'
import { network } from '../../../support/web/network'
import { activityOf, inviteOf, userOf } from '../../../support/web/factories'
import { renderApp } from '../../../support/web/renderApp'

function everything() {
  network.get('/api/users').answers({ users: [userOf(1, 'ann', true)] })
  network.get('/api/invite-codes').answers({ codes: [inviteOf('CODE-1', 'for bob')] })
  network.get('/api/admin/k8sdashboard/token').answers({ token: null })
  network.get('/api/admin/k8sdashboard/host').answers({ host: 'https://dashboard.example' })
  network.get('/api/activity').answers({ entries: [activityOf(1)], hasMore: false })
}

const chosen = () => screen.getByRole('tab', { selected: true }).textContent

beforeEach(everything)
afterEach(() => jest.restoreAllMocks())

test.each([
  ['/admin', 'User Management', 'ann'],
  ['/admin?tab=users', 'User Management', 'ann'],
  ['/admin?tab=invites', 'Invite Codes', 'for bob'],
  ['/admin?tab=dashboard', 'Kubernetes Dashboard', 'https://dashboard.example'],
  ['/admin?tab=activity', 'User Management', 'ann'],
  ['/admin?tab=nonsense', 'User Management', 'ann'],
])('§2 %s shows the tab %s', async (path, title, content) => {
  renderApp(path, { signedInAs: '1', isAdmin: true })
  expect(await screen.findByText(content)).toBeVisible()
  expect(chosen()).toBe(title)
  expect(screen.getByRole('tabpanel', { name: title })).toBeVisible()
})

test('§2 the admin page has exactly three tabs', async () => {
  renderApp('/admin', { signedInAs: '1', isAdmin: true })
  await screen.findByText('ann')
  expect(screen.getAllByRole('tab').map((tab) => tab.textContent)).toEqual([
    'User Management',
    'Invite Codes',
    'Kubernetes Dashboard',
  ])
})

test('the tab list is one tab stop, within which arrow keys, Home and End move', async () => {
  const { user } = renderApp('/admin', { signedInAs: '1', isAdmin: true })
  const first = await screen.findByRole('tab', { name: 'User Management' })
  expect(screen.getAllByRole('tab').map((tab) => tab.tabIndex)).toEqual([0, -1, -1])
  first.focus()
  await user.keyboard('{ArrowRight}')
  expect(screen.getByRole('tab', { name: 'Invite Codes' })).toHaveFocus()
  expect(await screen.findByText('for bob')).toBeVisible()
  expect(window.location.search).toBe('?tab=invites')
  await user.keyboard('{End}')
  expect(await screen.findByText('https://dashboard.example')).toBeVisible()
  await user.keyboard('{ArrowRight}')
  expect(chosen()).toBe('User Management')
  await user.keyboard('{ArrowLeft}')
  expect(chosen()).toBe('Kubernetes Dashboard')
  await user.keyboard('{Home}')
  expect(chosen()).toBe('User Management')
})

test('the Back button of the browser returns to the previous tab', async () => {
  const { user } = renderApp('/admin', { signedInAs: '1', isAdmin: true })
  for (const name of ['Invite Codes', 'Kubernetes Dashboard', 'User Management'])
    await user.click(await screen.findByRole('tab', { name }))
  act(() => window.history.back())
  await waitFor(() => expect(chosen()).toBe('Kubernetes Dashboard'))
  act(() => window.history.back())
  await waitFor(() => expect(chosen()).toBe('Invite Codes'))
})

test('decisions §2: a regular user sees the administrators-only panel, and no admin data is requested', async () => {
  const users = network.get('/api/users').answers({ users: [] })
  renderApp('/admin', { signedInAs: 'bob' })
  expect(await screen.findByRole('heading', { name: 'Administrators only' })).toBeVisible()
  expect(screen.getByRole('link', { name: 'Return Home' })).toHaveAttribute('href', '/')
  expect(users.calls).toHaveLength(0)
})

test.each([
  ['users', '/api/users'],
  ['invites', '/api/invite-codes'],
  ['dashboard', '/api/admin/k8sdashboard/token'],
])(
  'security 12: a demoted administrator on the tab %s sees the administrators-only panel and stays signed in',
  async (tab, path) => {
    network.get(path).answers(403, { code: 'NOT_ALLOWED', message: 'This is for administrators' })
    const { services } = renderApp(`/admin?tab=${tab}`, { signedInAs: '1', isAdmin: true })
    expect(await screen.findByRole('heading', { name: 'Administrators only' })).toBeVisible()
    expect(screen.queryByRole('link', { name: 'Admin' })).not.toBeInTheDocument()
    expect(services.jar.has('token')).toBe(true)
  },
)

test('security 12: a demotion while the page is open takes effect with the next action', async () => {
  network.get('/api/users').answers({ users: [userOf(1, 'ann', true), userOf(2, 'bob')] })
  jest.spyOn(console, 'warn').mockReturnValue()
  const { user } = renderApp('/admin', { signedInAs: '1', isAdmin: true })
  const toggle = await screen.findByRole('switch', { name: 'bob is an administrator' })
  network.patch('/api/users/2/admin').answers(403, { code: 'NOT_ALLOWED' })
  network.get('/api/users').answers(403, { code: 'NOT_ALLOWED' })
  await user.click(toggle)
  expect(await screen.findByRole('heading', { name: 'Administrators only' })).toBeVisible()
})

test('the admin slice resets when the session ends', async () => {
  const { store, user } = renderApp('/admin', { signedInAs: '1', isAdmin: true })
  await user.type(await screen.findByRole('searchbox', { name: 'Search users' }), 'an')
  expect(store.getState().admin?.userSearch).toBe('an')
  network.post('/api/auth/logout').answers({})
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await screen.findByRole('heading', { name: 'Sign In' })
  expect(store.getState().admin?.userSearch).toBe('')
})

test('a 403 page of a proxy does not change the role', async () => {
  jest.spyOn(console, 'warn').mockReturnValue()
  network.get('/api/users').answersRaw(403, '<html><h1>403 Forbidden</h1></html>')
  renderApp('/admin', { signedInAs: '1', isAdmin: true })
  expect(await screen.findByText('Failed to load users')).toBeVisible()
  expect(screen.getByRole('link', { name: 'Admin' })).toBeVisible()
})
