import { screen, waitFor, within } from '@testing-library/react'
import { safeLink } from '../../../../src/web/features/admin/dashboard/safeLink'
import { network } from '../../../support/web/network'
import { problemsIn } from '../../../support/web/problems'
import { notifications } from '../../../support/web/notifications'
import { renderApp } from '../../../support/web/renderApp'

const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.dashboard.token'
const TOKEN_PATH = '/api/admin/k8sdashboard/token'
function rendered(token: string | null, host = 'https://dashboard.example') {
  network.get(TOKEN_PATH).answers({ token })
  network.get('/api/admin/k8sdashboard/host').answers({ host })
  return renderApp('/admin?tab=dashboard', { signedInAs: '1', isAdmin: true })
}

beforeEach(() => jest.spyOn(console, 'warn').mockReturnValue())
afterEach(() => jest.restoreAllMocks())

test('§2 a created token stays hidden until it is revealed', async () => {
  const { user } = rendered(null)
  const create = await screen.findByRole('button', { name: 'Create Token' })
  const { calls } = network.post(TOKEN_PATH).answers({ token: TOKEN })
  network.get(TOKEN_PATH).answers({ token: TOKEN })
  await user.click(create)
  expect(await screen.findByRole('button', { name: 'Reveal' })).toBeVisible()
  expect(calls).toHaveLength(1)
  expect(notifications()).toEqual(['Successfully created the dashboard token'])
  expect(screen.queryByText(TOKEN)).not.toBeInTheDocument()
  await user.click(screen.getByRole('button', { name: 'Reveal' }))
  expect(screen.getByText(TOKEN)).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Hide' }))
  expect(screen.queryByText(TOKEN)).not.toBeInTheDocument()
})

test('§2 a token can be copied while hidden', async () => {
  const { user } = rendered(TOKEN)
  const copy = await screen.findByRole('button', { name: 'Copy token' })
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(copy)
  expect(write).toHaveBeenCalledWith(TOKEN)
  expect(screen.queryByText(TOKEN)).not.toBeInTheDocument()
})

test('§2 deleting a token asks for confirmation', async () => {
  const { user } = rendered(TOKEN)
  await user.click(await screen.findByRole('button', { name: 'Delete Token' }))
  const dialog = await screen.findByRole('dialog', { name: 'Delete Token' })
  const { calls } = network.delete(TOKEN_PATH).answers({})
  network.get(TOKEN_PATH).answers({ token: null })
  await user.click(within(dialog).getByRole('button', { name: 'Delete' }))
  expect(await screen.findByRole('button', { name: 'Create Token' })).toBeVisible()
  expect(calls).toHaveLength(1)
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(notifications()).toEqual(['Successfully deleted the dashboard token'])
})

test.each([
  ['post', 'Create Token', null, 'Failed to create the dashboard token'],
  ['delete', 'Delete Token', TOKEN, 'Failed to delete the dashboard token'],
] as const)(
  '§8 a failed %s is recorded only in the problem log, with the server message',
  async (method, button, token, text) => {
    const { user, store } = rendered(token)
    network[method](TOKEN_PATH).answers(503, { message: 'The cluster does not answer' })
    await user.click(await screen.findByRole('button', { name: button }))
    if (method === 'delete')
      await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Delete' }))
    await waitFor(() => expect(problemsIn(store)).toEqual([`${text}: The cluster does not answer`]))
    expect(screen.queryByText('The cluster does not answer')).not.toBeInTheDocument()
    expect(screen.getByRole('button', { name: button === 'Create Token' ? button : 'Delete' })).not.toHaveAttribute(
      'aria-busy',
      'true',
    )
    expect(notifications()).toEqual([])
  },
)

test('decisions §9: without a cluster the tab shows the configuration hint of the server', async () => {
  network.get(TOKEN_PATH).answers(503, { message: 'Set QUARTERDECK_RUNTIME to kubernetes.' })
  const { user } = renderApp('/admin?tab=dashboard', { signedInAs: '1', isAdmin: true })
  expect(await screen.findByText('Set QUARTERDECK_RUNTIME to kubernetes.')).toBeVisible()
  expect(screen.queryByText('Failed to load K8s dashboard token')).not.toBeInTheDocument()
  network.get(TOKEN_PATH).answers({ token: null })
  network.get('/api/admin/k8sdashboard/host').answers({ host: '' })
  await user.click(screen.getByRole('button', { name: 'Check again' }))
  expect(await screen.findByRole('button', { name: 'Create Token' })).toBeVisible()
  expect(await screen.findByText('The server does not name the host of the dashboard.')).toBeVisible()
})

test("§8 the tab shows 'Failed to load K8s dashboard token' with Retry", async () => {
  network.get(TOKEN_PATH).answers(500)
  const { user } = renderApp('/admin?tab=dashboard', { signedInAs: '1', isAdmin: true })
  expect(await screen.findByRole('heading', { name: 'Failed to load K8s dashboard token' })).toBeVisible()
  network.get(TOKEN_PATH).answers({ token: TOKEN })
  network.get('/api/admin/k8sdashboard/host').answers({ host: 'https://dashboard.example' })
  await user.click(screen.getByRole('button', { name: 'Retry' }))
  expect(await screen.findByRole('button', { name: 'Reveal' })).toBeVisible()
})

test('§2 the host is a link without opener access', async () => {
  rendered(null)
  const link = await screen.findByRole('link', { name: 'https://dashboard.example' })
  expect(link).toHaveAttribute('href', 'https://dashboard.example/')
  expect(link).toHaveAttribute('rel', 'noopener noreferrer')
})

test('security 60: a host that is not a web address is shown as text without a link', async () => {
  rendered(null, 'javascript:alert(1)')
  expect(await screen.findByText('javascript:alert(1)')).toBeVisible()
  expect(screen.queryByRole('link', { name: /javascript/ })).not.toBeInTheDocument()
})

test.each([
  ['https://a.example/x', 'https://a.example/x'],
  ['http://10.0.0.1:8443', 'http://10.0.0.1:8443/'],
  ['dashboard.example', 'https://dashboard.example/'],
  ['dashboard.example:8443', 'https://dashboard.example:8443/'],
  ['javascript:alert(1)', undefined],
  ['javascript://%0aalert(1)', undefined],
  ['data:text/html,x', undefined],
  ['ftp://a.example', undefined],
  ['https://user:pass@a.example', undefined],
  ['', undefined],
  ['not a host', undefined],
])('security 60: the link of the host %p is %p', (host, link) => {
  expect(safeLink(host)).toBe(link)
})
