import { act, screen, waitFor, within } from '@testing-library/react'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'

beforeEach(() => {
  network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null })
  for (const engine of ['sql', 'mongo']) network.get(`/api/database/${engine}`).answers({ databases: [] })
})

const linksOf = (nav: HTMLElement) =>
  within(nav)
    .getAllByRole('link')
    .map((link) => link.textContent)
const activeOf = (nav: HTMLElement) =>
  within(nav)
    .getAllByRole('link')
    .filter((link) => link.getAttribute('aria-current') === 'page')
    .map((link) => link.textContent)

test('§2 the navigation shows Overview, Deployments, Files and Databases to every user', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([])
  const nav = await screen.findByRole('navigation', { name: 'Main' })
  expect(linksOf(nav)).toEqual(['Overview', 'Deployments', 'Files', 'Databases'])
  expect(screen.getByRole('button', { name: 'Logout' })).toBeVisible()
})

test('§6 the Admin link is shown only to administrators', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann', isAdmin: true })
  network.shows([])
  expect(linksOf(await screen.findByRole('navigation', { name: 'Main' }))).toContain('Admin')
})

test.each([
  ['/', ['Overview']],
  ['/deployments', ['Deployments']],
  ['/deployments/lobby/edit', ['Deployments']],
  ['/files', ['Files']],
  ['/files/lobby/plugins', ['Files']],
  ['/databases', ['Databases']],
  ['/admin', ['Admin']],
  ['/instance/lobby/1', []],
  ['/filesystem', []],
])('§2 at %s the active links are %p (/ matches exactly, other links by prefix)', async (path, active) => {
  const { network } = renderApp(path, { signedInAs: 'ann', isAdmin: true })
  network.shows([])
  expect(activeOf(await screen.findByRole('navigation', { name: 'Main' }))).toEqual(active)
})

test.each(['/login', '/register'])('§2 the navigation is hidden on %s', async (path) => {
  renderApp(path)
  await screen.findByRole('heading', { level: 1 })
  expect(screen.queryByRole('navigation')).not.toBeInTheDocument()
})

test.each(['/', '/deployments', '/deployments/lobby/edit', '/admin', '/files/a/b', '/databases', '/instance/lobby/1'])(
  '§2 %s redirects to the login page without a session',
  async (path) => {
    renderApp(path)
    expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
    expect(window.location.pathname).toBe('/login')
  },
)

test('decisions §2: /admin shows a regular user a panel with a link home', async () => {
  const { network, user } = renderApp('/admin', { signedInAs: 'ann' })
  network.shows([])
  expect(await screen.findByRole('heading', { name: 'Administrators only' })).toBeVisible()
  await user.click(screen.getByRole('link', { name: 'Return Home' }))
  expect(await screen.findByRole('heading', { name: 'Network Overview' })).toBeVisible()
})

test('§2 the not-found page needs no session and shows its texts and both buttons', async () => {
  const { user } = renderApp('/no/such/page')
  expect(await screen.findByRole('heading', { name: 'Page Not Found' })).toBeVisible()
  expect(screen.getByText("The page you're looking for doesn't exist or has been moved")).toBeVisible()
  expect(screen.getByText('Need help? Contact your system administrator')).toBeVisible()
  expect(screen.queryByRole('button', { name: 'Logout' })).not.toBeInTheDocument()
  await user.click(screen.getByRole('link', { name: 'Return Home' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
})

test('§2 Go Back on the not-found page returns to the previous page', async () => {
  const { network, user } = renderApp('/databases', { signedInAs: 'ann' })
  network.shows([])
  await user.click(await screen.findByRole('link', { name: 'Files' }))
  await screen.findByRole('heading', { level: 1, name: 'Files' })
  window.history.pushState({ idx: 2 }, '', '/nowhere')
  act(() => void window.dispatchEvent(new PopStateEvent('popstate', { state: window.history.state })))
  await user.click(await screen.findByRole('button', { name: 'Go Back' }))
  expect(await screen.findByRole('heading', { level: 1, name: 'Files' })).toBeVisible()
  expect(window.location.pathname).toBe('/files')
})

test('§2 the menu on narrow screens opens, and closes on navigation', async () => {
  const { user } = renderApp('/files', { signedInAs: 'ann' })
  const menu = await screen.findByRole('button', { name: 'Menu' })
  expect(menu).toHaveAttribute('aria-expanded', 'false')
  await user.click(menu)
  expect(menu).toHaveAttribute('aria-expanded', 'true')
  await user.click(screen.getByRole('link', { name: 'Databases' }))
  expect(menu).toHaveAttribute('aria-expanded', 'false')
})

test('Escape closes the account menu first, then the menu on narrow screens, and returns focus to its button', async () => {
  const { network, user } = renderApp('/', { signedInAs: 'ann' })
  network.shows([])
  const button = await screen.findByRole('button', { name: 'Menu' })
  await user.click(button)
  screen.getByRole('link', { name: 'Files' }).focus()
  await user.keyboard('{Escape}')
  expect(button).toHaveAttribute('aria-expanded', 'false')
  expect(button).toHaveFocus()

  await user.click(button)
  const account = screen.getByRole('button', { name: 'Your account' })
  await user.click(account)
  await user.keyboard('{Escape}')
  expect(account).toHaveFocus()
  expect(button).toHaveAttribute('aria-expanded', 'true')
  await user.click(account)
  await user.click(screen.getByRole('menuitem', { name: 'Change password' }))
  await screen.findByRole('dialog')
  await user.keyboard('{Escape}')
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(button).toHaveAttribute('aria-expanded', 'true')
  await user.keyboard('{Escape}')
  expect(button).toHaveFocus()
})

test('navigation moves the focus to the content of the new page, so that Tab leads to its first control', async () => {
  const { user, network } = renderApp('/databases', { signedInAs: 'ann' })
  network.shows([])
  await screen.findByRole('heading', { level: 1, name: 'Databases' })
  expect(screen.getByRole('main')).not.toHaveFocus()
  screen.getByRole('link', { name: 'Files' }).focus()
  await user.keyboard('{Enter}')
  await screen.findByRole('heading', { level: 1, name: 'Files' })
  await waitFor(() => expect(screen.getByRole('main')).toHaveFocus())
  await user.tab()
  expect(screen.getByRole('main')).toContainElement(document.activeElement as HTMLElement)
})
