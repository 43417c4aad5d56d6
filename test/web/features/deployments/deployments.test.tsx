import { act, screen, waitFor, within } from '@testing-library/react'
import { deploymentOf } from '../../../support/web/factories'
import { renderApp } from '../../../support/web/renderApp'

const gate = deploymentOf('gate', { typeIndex: 0 })
const survival = deploymentOf('survival', { typeIndex: 1 })
const lobby = deploymentOf('lobby', { typeIndex: 2, description: 'The lobby' })
const bot = deploymentOf('bot', { typeIndex: 3, enabled: false })

const section = (name: string) => screen.findByRole('region', { name })
const card = (name: string) => screen.findByRole('article', { name })
const namesIn = (region: HTMLElement) =>
  within(region)
    .queryAllByRole('article')
    .map((article) => article.getAttribute('aria-label'))
const notifications = () =>
  [...screen.getByRole('region', { name: 'Notifications' }).children].map((toast) => toast.textContent)

function rendered(deployments: object[] = [gate, survival, lobby, bot]) {
  const app = renderApp('/deployments', { signedInAs: 'ann' })
  return { ...app, list: app.network.get('/api/deployments').answers({ deployments }) }
}

test('§2 the page has the sections Proxy, Games (persistent and scalable) and Processes', async () => {
  rendered()
  expect(namesIn(await section('Proxy'))).toEqual(['gate'])
  expect(namesIn(await section('Games'))).toEqual(['survival', 'lobby'])
  expect(namesIn(await section('Processes'))).toEqual(['bot'])
})

test('a deployment of an unknown type is listed as a process', async () => {
  rendered([deploymentOf('odd', { typeIndex: 9 })])
  expect(within(await section('Processes')).getByText('Unknown type')).toBeVisible()
})

test.each([
  ['Proxy', 'No Proxy Found', 'Create Proxy'],
  ['Games', 'No Games Found', 'Create Deployment'],
  ['Processes', 'No Processes Found', 'Create Deployment'],
])('§2 an empty %s section reads %p and offers to create a deployment', async (name, text, title) => {
  const { network, user } = rendered([])
  network.get('/api/network/nodes').answers({ nodes: ['node-a'] })
  const region = await section(name)
  expect(within(region).getByText(text)).toBeVisible()
  await user.click(within(region).getByRole('button'))
  expect(await screen.findByRole('dialog', { name: title })).toBeVisible()
})

test('§2 a card shows status dot, name, path, type and description', async () => {
  rendered()
  const active = await card('lobby')
  expect(within(active).getByText('Active')).toHaveClass('running')
  expect(within(active).getByRole('heading', { name: 'lobby' })).toBeVisible()
  expect(within(active).getByText('/nfsshare/lobby')).toBeVisible()
  expect(within(active).getByText('Scalable')).toBeVisible()
  expect(within(active).getByText('The lobby')).toBeVisible()
  expect(within(await card('bot')).getByText('Inactive')).toHaveClass('stopped')
})

test('§2 Open files leads to /files plus the data directory, Edit leads to the editor', async () => {
  rendered([deploymentOf('lobby', { dataDirectory: '/servers/my lobby#1' })])
  expect(await screen.findByRole('link', { name: 'Open files of lobby' })).toHaveAttribute(
    'href',
    '/files/servers/my%20lobby%231',
  )
  expect(screen.getByRole('link', { name: 'Edit lobby' })).toHaveAttribute('href', '/deployments/lobby/edit')
})

test('§2 the proxy has no Delete button', async () => {
  rendered()
  await card('gate')
  expect(screen.queryByRole('button', { name: 'Delete gate' })).not.toBeInTheDocument()
  expect(screen.getByRole('button', { name: 'Delete lobby' })).toBeVisible()
})

test.each([
  ['lobby', false, 'Successfully disabled lobby'],
  ['bot', true, 'Successfully enabled bot'],
])(
  '§7, §8 the switch of %s updates optimistically, sends the new value and shows a notification',
  async (name, enabled, message) => {
    const { network, user } = rendered()
    const { calls, release } = network.post(`/api/deployments/${name}/toggle`).answersLater({})
    await user.click(await screen.findByRole('switch', { name: `${name} enabled`, checked: !enabled }))
    expect(await within(await card(name)).findByText(enabled ? 'Active' : 'Inactive')).toBeVisible()
    await user.click(screen.getByRole('switch', { name: `${name} enabled`, checked: enabled }))
    await waitFor(() => expect(calls.map(({ body }) => body)).toEqual([{ enabled }]))
    expect(notifications()).toEqual([])
    release()
    await waitFor(() => expect(notifications()).toEqual([message]))
  },
)

test('§8 a failed switch is rolled back with a notification', async () => {
  const { network, user, list } = rendered()
  const { release } = network.post('/api/deployments/lobby/toggle').answersLater(503)
  await user.click(await screen.findByRole('switch', { name: 'lobby enabled' }))
  expect(await within(await card('lobby')).findByText('Inactive')).toBeVisible()
  // The list never arrives, so only the rollback can restore the old state.
  network.get('/api/deployments').answersLater({})
  release()
  await waitFor(() => expect(within(screen.getByRole('article', { name: 'lobby' })).getByText('Active')).toBeVisible())
  expect(notifications()).toEqual(['Failed to toggle lobby'])
  expect(list.calls).toHaveLength(1)
})

test('§6 a 401 for a switch request leads to /login without a notification', async () => {
  const { network, user, store } = rendered()
  network.post('/api/deployments/lobby/toggle').answers(401)
  await user.click(await screen.findByRole('switch', { name: 'lobby enabled' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(store.getState().notifications).toEqual([])
})

test('§4 Restart marks each deployment as restarting until its own request finishes', async () => {
  const { network, user } = rendered()
  const first = network.post('/api/deployments/lobby/restart').answersLater({})
  const second = network.post('/api/deployments/survival/restart').answersLater(503)
  const button = (name: string) => screen.getByRole('button', { name: `Restart ${name}` })
  await card('lobby')
  await user.click(button('lobby'))
  await user.click(button('survival'))
  expect(button('lobby')).toHaveAttribute('aria-busy', 'true')
  expect(button('survival')).toHaveAttribute('aria-busy', 'true')
  expect(button('gate')).toHaveAttribute('aria-busy', 'false')
  expect(['lobby', 'survival', 'gate'].map((name) => button(name).querySelector('.spinner-border') !== null)).toEqual([
    true,
    true,
    false,
  ])
  await user.click(button('lobby'))

  first.release()
  await waitFor(() => expect(button('lobby')).toHaveAttribute('aria-busy', 'false'))
  expect(button('lobby').querySelector('.spinner-border')).toBeNull()
  expect(button('survival')).toHaveAttribute('aria-busy', 'true')
  expect(notifications()).toEqual(['Successfully restarted lobby'])
  second.release()
  await waitFor(() => expect(notifications()).toEqual(['Successfully restarted lobby', 'Failed to restart survival']))
  expect(first.calls).toHaveLength(1)
})

test('§4 a restart continues and stays visible after navigating away and back', async () => {
  const { network, user } = rendered()
  const { release } = network.post('/api/deployments/lobby/restart').answersLater({})
  await user.click(await screen.findByRole('button', { name: 'Restart lobby' }))
  for (const type of ['sql', 'mongo']) network.get(`/api/database/${type}`).answers({ databases: [] })
  await user.click(screen.getByRole('link', { name: 'Databases' }))
  await screen.findByRole('heading', { name: 'Databases' })
  await user.click(screen.getByRole('link', { name: 'Deployments' }))
  expect(await screen.findByRole('button', { name: 'Restart lobby' })).toHaveAttribute('aria-busy', 'true')
  await user.click(screen.getByRole('link', { name: 'Databases' }))
  release()
  await waitFor(() => expect(notifications()).toEqual(['Successfully restarted lobby']))
})

test('a restart that takes minutes does not delay other requests', async () => {
  const { network, user } = rendered()
  network.post('/api/deployments/lobby/restart').answersLater({})
  network.post('/api/deployments/bot/toggle').answers({})
  await user.click(await screen.findByRole('button', { name: 'Restart lobby' }))
  network.get('/api/deployments').answers({ deployments: [{ ...bot, enabled: true, description: 'fresh' }] })
  await user.click(screen.getByRole('switch', { name: 'bot enabled' }))
  expect(await screen.findByText('fresh')).toBeVisible()
})

test('a disabled deployment cannot be restarted', async () => {
  rendered()
  await card('bot')
  expect(screen.getByRole('button', { name: 'Restart bot' })).toBeDisabled()
  expect(screen.getByRole('button', { name: 'Restart lobby' })).toBeEnabled()
})

test('the page shows skeletons while the list loads', async () => {
  const { network } = rendered()
  const { release } = network.get('/api/deployments').answersLater({ deployments: [lobby] })
  expect(await screen.findByText('Loading the deployments')).toBeInTheDocument()
  expect(screen.queryByText('No Proxy Found')).not.toBeInTheDocument()
  release()
  expect(await card('lobby')).toBeVisible()
  expect(screen.queryByText('Loading the deployments')).not.toBeInTheDocument()
})

test.each([
  ['the server message', { message: 'The database is not reachable' }, 'The database is not reachable'],
  ['no details when the server sends none', {}, ''],
])("§8 'Failed to load deployments' is shown with %s, and Retry refetches", async (_case, body, detail) => {
  const { network, user } = rendered()
  network.get('/api/deployments').answers(503, body)
  const alert = await screen.findByRole('alert')
  expect(alert).toHaveTextContent(`Failed to load deployments${detail}Retry`)
  network.get('/api/deployments').answers({ deployments: [lobby] })
  await user.click(within(alert).getByRole('button', { name: 'Retry' }))
  expect(await card('lobby')).toBeVisible()
  expect(screen.queryByRole('alert')).not.toBeInTheDocument()
})

test('§8 a response without deployments is a failed load', async () => {
  const { network } = rendered()
  network.get('/api/deployments').answers({})
  expect(await screen.findByRole('alert')).toHaveTextContent('Failed to load deployments')
})

test('the list is refetched when the page becomes visible and stays when the refetch fails', async () => {
  const { network } = rendered([lobby])
  await card('lobby')
  network.get('/api/deployments').answers(503, { message: 'Not now' })
  act(() => void document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
  expect(await screen.findByRole('alert')).toHaveTextContent('Not now')
  expect(await card('lobby')).toBeVisible()
})
