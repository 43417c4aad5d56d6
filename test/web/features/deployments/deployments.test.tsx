import { act, screen, waitFor, within } from '@testing-library/react'
import { deploymentsApi } from '../../../../src/web/api/deployments'
import { deploymentOf, instanceOf } from '../../../support/web/factories'
import { notifications } from '../../../support/web/notifications'
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

test('a failed switch is rolled back for its deployment, though the list has another order by then', async () => {
  const { network, user, store } = rendered()
  const { release } = network.post('/api/deployments/lobby/toggle').answersLater(503)
  await user.click(await screen.findByRole('switch', { name: 'lobby enabled' }))
  const first = deploymentOf('arena', { enabled: false })
  act(
    () =>
      void store.dispatch(
        deploymentsApi.util.updateQueryData('getDeployments', undefined, (deployments) => [first, ...deployments]),
      ),
  )
  network.get('/api/deployments').answersLater({})
  release()
  expect(await within(await card('lobby')).findByText('Active')).toBeVisible()
  expect(within(await card('arena')).getByText('Inactive')).toBeVisible()
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
  await waitFor(() => expect(button('survival')).toHaveAttribute('aria-busy', 'true'))
  expect(button('lobby')).toHaveAttribute('aria-busy', 'true')
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

test('a disabled deployment cannot be restarted, and says why', async () => {
  const { user } = rendered()
  await card('bot')
  const restart = screen.getByRole('button', { name: 'Restart bot' })
  expect(restart).toHaveAttribute('aria-disabled', 'true')
  expect(restart).toHaveAccessibleDescription('Only an active deployment can be restarted')
  // It has no response in this test, so a request would fail.
  await user.click(restart)
  expect(notifications()).toEqual([])
  expect(screen.getByRole('button', { name: 'Restart lobby' })).toHaveAttribute('aria-disabled', 'false')
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

const running = (count: number, players = 0) =>
  Array.from({ length: count }, (_, at) =>
    instanceOf(`a${at}-lobby`, { playerCount: players, players: players ? { x: 'Ann' } : {} }),
  )
const blocked = (count: number) =>
  Array.from({ length: count }, (_, at) => instanceOf(`b${at}-lobby`, { state: 'BLOCKED' }))
const withInstances = (instances: ReturnType<typeof running>, more = {}) => ({ ...lobby, ...more, instances })

test.each([
  [[...running(2, 12)], 'Active2/2 online · 24 players'],
  [[...blocked(2)], 'Active0/2 online · 2 blocked'],
  [[...running(1, 1), ...blocked(1)], 'Active1/2 online · 1 blocked · 1 player'],
  [[], 'Activeno instances'],
])('the number of running instances is shown beside Active', async (instances, text) => {
  const { list } = rendered([withInstances(instances)])
  expect(within(await card('lobby')).getByText('Active').parentElement).toHaveTextContent(text)
  expect(list.calls[0]?.query).toBe('?instances=true')
})

test('if the server sends no instances with the list, only Active is shown, and no other request is sent', async () => {
  const { list } = rendered([lobby])
  expect(within(await card('lobby')).getByText('Active').parentElement).toHaveTextContent(/^Active$/)
  expect(list.calls).toHaveLength(1)
})

test('the name leads to the configuration, the count to the only instance or to the overview', async () => {
  rendered([withInstances(running(1)), { ...survival, instances: running(2) }])
  expect(within(await card('lobby')).getByRole('link', { name: 'lobby' })).toHaveAttribute(
    'href',
    '/deployments/lobby/edit',
  )
  expect(screen.getByRole('link', { name: '1/1 online' })).toHaveAttribute('href', '/instance/lobby/uid-a0-lobby')
  expect(screen.getByRole('link', { name: '2/2 online' })).toHaveAttribute('href', '/')
})

test.each([
  ['counts them', running(4, 6), 'Restart 4 instances of lobby? 24 players are online; they are disconnected.'],
  ['without players', running(1), 'Restart 1 instance of lobby?'],
  [
    'with a drain',
    running(1, 1).map((instance) => ({ ...instance, canDrain: true })),
    'Restart 1 instance of lobby? 1 player is online; each instance is drained before it stops.',
  ],
])('Restart asks first when instances run, and %s', async (_case, instances, question) => {
  const { network, user, store } = rendered([withInstances(instances)])
  const { calls } = network.post('/api/deployments/lobby/restart').answers({})
  await user.click(await screen.findByRole('button', { name: 'Restart lobby' }))
  const dialog = await screen.findByRole('dialog', { name: 'Restart lobby' })
  expect(within(dialog).getByText(question)).toBeVisible()
  expect(store.getState().interruption?.asked).toEqual({ name: 'lobby', change: 'restart' })
  await user.click(within(dialog).getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(calls).toHaveLength(0)

  await user.click(screen.getByRole('button', { name: 'Restart lobby' }))
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Restart' }))
  await waitFor(() => expect(notifications()).toEqual(['Successfully restarted lobby']))
  expect(calls).toHaveLength(1)
})

test('Restart acts at once when nothing runs', async () => {
  const { network, user } = rendered([withInstances(blocked(2))])
  const { calls } = network.post('/api/deployments/lobby/restart').answers({})
  await user.click(await screen.findByRole('button', { name: 'Restart lobby' }))
  await waitFor(() => expect(calls).toHaveLength(1))
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
})

test('disabling asks first when instances run, and the switch stays on until the user confirms', async () => {
  const { network, user } = rendered([withInstances(running(2, 1))])
  const { calls } = network.post('/api/deployments/lobby/toggle').answers({})
  const toggle = await screen.findByRole('switch', { name: 'lobby enabled' })
  await user.click(toggle)
  const dialog = await screen.findByRole('dialog', { name: 'Disable lobby' })
  expect(dialog).toHaveTextContent(
    'Disable lobby? Its 2 instances are stopped. 2 players are online; they are disconnected.',
  )
  expect(toggle).toBeChecked()
  expect(calls).toHaveLength(0)
  network.get('/api/deployments').answers({ deployments: [withInstances([], { enabled: false })] })
  await user.click(within(dialog).getByRole('button', { name: 'Disable' }))
  await waitFor(() => expect(notifications()).toEqual(['Successfully disabled lobby']))
  expect(calls.map(({ body }) => body)).toEqual([{ enabled: false }])
  expect(toggle).not.toBeChecked()
})

test('enabling does not ask', async () => {
  const { network, user } = rendered([withInstances([], { enabled: false })])
  network.post('/api/deployments/lobby/toggle').answers({})
  await user.click(await screen.findByRole('switch', { name: 'lobby enabled' }))
  await waitFor(() => expect(notifications()).toEqual(['Successfully enabled lobby']))
})

test('the menu of a row has its actions, and says why one cannot be used', async () => {
  const { user, store } = rendered()
  await card('bot')
  await user.click(screen.getByRole('button', { name: 'Actions for bot' }))
  expect(screen.getByText('Only an active deployment can be restarted')).toBeVisible()
  expect(store.getState().deployments?.menu).toBe('bot')
  await user.click(screen.getByRole('menuitem', { name: 'Delete' }))
  expect(await screen.findByRole('dialog', { name: 'Delete Deployment' })).toHaveTextContent('"bot"')
  expect(store.getState().deployments?.menu).toBeNull()
})

test('more than 8 deployments can be searched by name, type, path and description', async () => {
  const many = Array.from({ length: 9 }, (_, at) => deploymentOf(`world-${at}`, { typeIndex: 1 }))
  const { user } = rendered([...many, lobby])
  const search = await screen.findByRole('searchbox', { name: 'Search deployments' })
  await user.type(search, 'THE LOB')
  expect(namesIn(await section('Games'))).toEqual(['lobby'])
  // Empty only because of the search.
  expect(screen.queryByText('No Proxy Found')).not.toBeInTheDocument()
  await user.clear(search)
  await user.type(search, 'persist')
  expect(namesIn(await section('Games'))).toHaveLength(9)
  await user.type(search, 'x')
  expect(screen.getByText('No deployment matches "persistx"')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Clear the search' }))
  expect(namesIn(await section('Games'))).toHaveLength(10)
  expect(search).toHaveValue('')
})

test('up to 8 deployments have no search field', async () => {
  rendered(Array.from({ length: 8 }, (_, at) => deploymentOf(`world-${at}`)))
  await card('world-7')
  expect(screen.queryByRole('searchbox')).not.toBeInTheDocument()
})
