import { screen, waitFor, within } from '@testing-library/react'
import { HttpResponse } from 'msw'
import { networkApi } from '../../../../src/web/api/network'
import { deploymentOf, instanceOf } from '../../../support/web/factories'
import { fakeClock, pass } from '../../../support/web/fakeClock'
import type { network as networkOfTests } from '../../../support/web/network'
import { badge, sectionOf } from '../../../support/web/overviewPage'
import { renderApp } from '../../../support/web/renderApp'

type Network = typeof networkOfTests

const overviewIn = (store: ReturnType<typeof renderApp>['store']) =>
  networkApi.endpoints.getOverview.select()(store.getState()).data

const lobby = deploymentOf('lobby')
const bot = deploymentOf('discord-bot')

afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

test('§2 each deployment is a section with a title, an instance count and cards', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([
    { deployment: lobby, instances: [instanceOf('3fa2c1-lobby'), instanceOf('77e0d4-lobby')] },
    { deployment: bot, instances: [instanceOf('5150aa-discord-bot')] },
  ])
  const section = await sectionOf('lobby')
  expect(within(section).getByText('2 instances')).toBeVisible()
  expect(within(section).getAllByRole('link')).toHaveLength(2)
  expect(within(await sectionOf('discord-bot')).getByText('1 instance')).toBeVisible()
  expect(badge()).toHaveTextContent('Live')
})

test("§2 a card shows name, description, players, state and 'ID:', and its link passes the instance to its page", async () => {
  const { network, user } = renderApp('/', { signedInAs: 'ann' })
  const instance = instanceOf('3fa2c1-lobby', { description: 'Main lobby', players: { a: 'Ann', b: 'Bob' } })
  network.shows([{ deployment: lobby, instances: [instance] }])
  const card = await screen.findByRole('link', { name: /3fa2c1-lobby/ })
  expect(card).toHaveTextContent('Main lobby')
  expect(card).toHaveTextContent('2 players')
  expect(card).toHaveTextContent('Online')
  expect(card).toHaveTextContent('ID: 3fa2c1')
  await user.click(card)
  expect(window.location.pathname).toBe('/instance/lobby/uid-3fa2c1-lobby')
  expect((window.history.state as { usr: unknown }).usr).toEqual({ instance })
})

test.each([
  [{}, '0 players'],
  [{ a: 'Ann' }, '1 player'],
])('§2 a players map of %p shows a badge of %p', async (players, text) => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby', { players })] }])
  expect(await screen.findByRole('link', { name: /3fa2c1-lobby/ })).toHaveTextContent(text)
})

test.each([
  [5, '5 players'],
  [1, '1 player'],
  [null, '? players'],
])(
  '§14 the player badge shows the count from the server rather than the number of names: %p',
  async (playerCount, text) => {
    const { network } = renderApp('/', { signedInAs: 'ann' })
    network.shows([
      { deployment: lobby, instances: [instanceOf('3fa2c1-lobby', { players: { a: 'Ann', b: 'Bob' }, playerCount })] },
    ])
    expect(await screen.findByRole('link', { name: /3fa2c1-lobby/ })).toHaveTextContent(text)
  },
)

test('§2 a card omits the badge without a players map, and the line without a description', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: bot, instances: [instanceOf('5150aa-discord-bot', { type: 'process' })] }])
  expect(await screen.findByRole('link', { name: /5150aa-discord-bot/ })).toHaveTextContent(
    '5150aa-discord-botOnlineID: 5150aa',
  )
})

test.each([
  ['STARTING', 'Starting Up', 'changing'],
  ['RUNNING', 'Online', 'running'],
  ['BLOCKED', 'Blocked', 'blocked'],
  ['STOPPING', 'Shutting Down', 'changing'],
  ['STOPPED', 'Offline', 'stopped'],
] as const)('§3 the state %s reads %p and has its color', async (state, name, tone) => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby', { state })] }])
  const card = await screen.findByRole('link', { name: /3fa2c1-lobby/ })
  expect(within(card).getByText(name)).toHaveClass('state', tone)
})

test('a crashed instance shows a countdown to its next restart in amber instead of Offline', async () => {
  fakeClock()
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([
    {
      deployment: lobby,
      instances: [instanceOf('3fa2c1-lobby', { state: 'STOPPED', retry: { inMs: 8000, attempt: 3, of: 5 } })],
    },
  ])
  expect(await screen.findByText('Restarting in 8 s, try 3 of 5')).toHaveClass('state', 'changing')
  expect(screen.queryByText('Offline')).toBeNull()
  // The next response is slow; the countdown continues.
  const { release } = network
    .get('/api/deployments/lobby/instances')
    .answersLater({ instances: [instanceOf('3fa2c1-lobby', { state: 'STARTING' })] })
  await pass(4000)
  expect(screen.getByText('Restarting in 4 s, try 3 of 5')).toBeVisible()
  await pass(6000)
  expect(screen.getByText('Restarting, try 3 of 5')).toBeVisible()
  release()
  expect(await screen.findByText('Starting Up')).toBeVisible()
})

test('§14 a card shows that its instance is draining', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby', { draining: true })] }])
  expect(await screen.findByText('Draining: no new players')).toBeVisible()
})

test('an instance that is not ready in time shows this on its card, with the condition it waits for', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([
    {
      deployment: lobby,
      instances: [
        instanceOf('3fa2c1-lobby', {
          state: 'STARTING',
          lateStart: { afterSeconds: 300, waitingFor: 'a console line that matches Done' },
        }),
      ],
    },
  ])
  expect(await screen.findByText('Not ready after 300 s')).toHaveAttribute(
    'title',
    'It waits for a console line that matches Done',
  )
})

test('§3 an unknown state shows an error on its own card only', async () => {
  jest.spyOn(console, 'error').mockImplementation(() => {})
  const { network } = renderApp('/', { signedInAs: 'ann' })
  const odd = { ...instanceOf('bad0ff-lobby'), state: 'EXPLODED' }
  network.shows([{ deployment: lobby, instances: [odd, instanceOf('3fa2c1-lobby')] }])
  expect(await screen.findByRole('alert')).toHaveTextContent('bad0ff-lobbyUnknown instance state: EXPLODED')
  expect(screen.getByRole('link', { name: /3fa2c1-lobby/ })).toBeVisible()
})

test("§2 an empty section shows 'No instances currently running'", async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby }])
  expect(await screen.findByText('No instances currently running')).toBeVisible()
})

test('§2 sections collapse by mouse and keyboard, and stay collapsed across polls', async () => {
  fakeClock()
  const { network, user, store } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] }, { deployment: bot }])
  const toggle = await screen.findByRole('button', { name: /^lobby/ })
  expect(toggle).toHaveAttribute('aria-expanded', 'true')
  await user.click(toggle)
  expect(toggle).toHaveAttribute('aria-expanded', 'false')
  expect(store.getState().overview?.collapsed).toEqual(['lobby'])
  expect(screen.getByRole('button', { name: /^discord-bot/ })).toHaveAttribute('aria-expanded', 'true')
  const instances = [instanceOf('3fa2c1-lobby'), instanceOf('77e0d4-lobby')]
  network.get('/api/deployments/lobby/instances').answers({ instances })
  await pass(3000)
  expect(await within(await sectionOf('lobby')).findByText('2 instances')).toBeVisible()
  expect(toggle).toHaveAttribute('aria-expanded', 'false')
  await user.keyboard('{Enter}')
  expect(toggle).toHaveAttribute('aria-expanded', 'true')
})

test('an overview without deployments links to the Deployments page', async () => {
  const { network, user } = renderApp('/', { signedInAs: 'ann' })
  network.shows([])
  expect(await screen.findByRole('heading', { name: 'No deployments yet' })).toBeVisible()
  await user.click(screen.getByRole('link', { name: 'Go to Deployments' }))
  expect(window.location.pathname).toBe('/deployments')
})

test('§2 the badge reads Updating... and skeletons are shown until the first response', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] }])
  const { release } = network.get('/api/deployments').answersLater({ deployments: [] })
  expect(await screen.findByText('Updating...')).toBeVisible()
  expect(screen.getByText('Loading the network overview')).toBeInTheDocument()
  release()
  await waitFor(() => expect(badge()).toHaveTextContent('Live'))
  expect(screen.queryByText('Loading the network overview')).not.toBeInTheDocument()
})

test.each([
  ['the server message', { message: 'The database is not reachable' }, 'The database is not reachable'],
  ['the product text when there is none', {}, 'Failed to fetch network data'],
])('§8 a failed load shows %s, and Retry refetches', async (_case, body, text) => {
  const { network, user } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby }])
  network.get('/api/deployments').answers(503, body)
  expect(await screen.findByRole('heading', { name: 'Failed to Load Data' })).toBeVisible()
  expect(screen.getByRole('alert')).toHaveTextContent(text)
  expect(badge()).toHaveTextContent('Failed')

  network.shows([{ deployment: lobby }])
  await user.click(screen.getByRole('button', { name: 'Retry' }))
  expect(await sectionOf('lobby')).toBeVisible()
  expect(screen.queryByText('Failed to Load Data')).not.toBeInTheDocument()
})

test.each([
  ['not JSON', (network: Network) => network.get('/api/deployments').answersRaw(200, '<html>')],
  ['a gateway page', (network: Network) => network.get('/api/deployments').answersRaw(502, '<html>')],
  ['without deployments', (network: Network) => network.get('/api/deployments').answers({})],
  ['null', (network: Network) => network.get('/api/deployments').answersRaw(200, 'null')],
  ['empty', (network: Network) => network.get('/api/deployments').answersRaw(200, '')],
])('§8 a response that is %s is a failed load, not a page error', async (_case, spoil) => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([])
  spoil(network)
  expect(await screen.findByRole('alert')).toHaveTextContent('Failed to fetch network data')
})

test('instances in the response of the deployments are not requested again', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby }, { deployment: bot, instances: [instanceOf('5150aa-discord-bot')] }])
  const apart = network.get('/api/deployments/lobby/instances').answers({ instances: [] })
  const together = network
    .get('/api/deployments')
    .answers({ deployments: [{ ...lobby, instances: [instanceOf('3fa2c1-lobby')] }, bot] })
  expect(within(await sectionOf('lobby')).getByText('3fa2c1-lobby')).toBeVisible()
  expect(within(await sectionOf('discord-bot')).getByText('5150aa-discord-bot')).toBeVisible()
  expect(together.calls[0]?.query).toBe('?instances=true')
  expect(apart.calls).toEqual([])
})

test('a server that sends the whole overview in one call gets no other calls, and sends only changes', async () => {
  fakeClock()
  const { network, store } = renderApp('/', { signedInAs: 'ann' })
  const heartbeat = network.shows([])
  const listed = (state: 'RUNNING' | 'STOPPED') => ({
    managerSilent: false,
    deployments: [{ ...lobby, instances: [instanceOf('3fa2c1-lobby', { state })] }],
  })
  const first = network.get('/api/deployments').answersVersion('"1"', listed('RUNNING'))
  const section = await sectionOf('lobby')
  const known = overviewIn(store)
  await pass(3000)
  await waitFor(() => expect(first.calls).toHaveLength(2))
  await pass(100)
  // A response without data keeps every row.
  expect(overviewIn(store)?.sections).toBe(known?.sections)
  expect(within(section).getByText('Online')).toBeVisible()
  network.get('/api/deployments').answersVersion('"2"', listed('STOPPED'))
  await pass(3000)
  expect(await within(section).findByText('Offline')).toBeVisible()
  expect(heartbeat.calls).toEqual([])
  expect(badge()).toHaveTextContent('Live')
})

test('§4 the manager is shown as silent when the overview of the server reports it as silent', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.get('/api/deployments').answersVersion('"1"', { managerSilent: true, deployments: [] })
  expect(await screen.findByRole('heading', { name: 'Manager Not Responding' })).toBeVisible()
  expect(badge()).toHaveTextContent('Failed')
})

test('while the Kubernetes cluster is silent, the last known state is shown with its age', async () => {
  fakeClock()
  const { network } = renderApp('/', { signedInAs: 'ann' })
  const listed = (since?: number) => ({
    managerSilent: false,
    ...(since !== undefined && { clusterSilentSince: since }),
    deployments: [{ ...lobby, instances: [instanceOf('3fa2c1-lobby')] }],
  })
  network.get('/api/deployments').answersVersion('"1"', listed(Date.now() - 5.5 * 60_000))
  const warning = (await screen.findByRole('heading', { name: 'Cluster Not Responding' })).closest('section')!
  expect(warning).toHaveTextContent('The Kubernetes cluster last answered 5 minutes ago.')
  expect(screen.getByText('3fa2c1-lobby')).toBeVisible()
  expect(screen.getByText(/^last known/)).toHaveTextContent('last known 5 minutes ago')
  expect(badge()).toHaveTextContent('Failed')
  network.get('/api/deployments').answersVersion('"2"', listed())
  await pass(3000)
  await waitFor(() => expect(badge()).toHaveTextContent('Live'))
  expect(screen.queryByRole('heading', { name: 'Cluster Not Responding' })).not.toBeInTheDocument()
})

test('a deployment whose instances fail to load does not affect the other deployments', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby }, { deployment: bot, instances: [instanceOf('5150aa-discord-bot')] }])
  network.get('/api/deployments/lobby/instances').answers(503, { message: 'The runtime did not answer' })
  expect(within(await sectionOf('lobby')).getByRole('alert')).toHaveTextContent('The runtime did not answer')
  expect(within(await sectionOf('discord-bot')).getByRole('link')).toBeVisible()
  expect(badge()).toHaveTextContent('Failed')
})

test.each([
  [29_000, false],
  [31_000, true],
  [-31_000, true],
])('§4 with a heartbeat %i ms old, manager silent is %p', async (age, silent) => {
  const now = Date.now()
  jest.spyOn(Date, 'now').mockReturnValue(now)
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] }], { timestamp: now - age })
  expect(await screen.findByText('3fa2c1-lobby')).toBeVisible()
  expect(screen.queryByRole('heading', { name: 'Manager Not Responding' }) !== null).toBe(silent)
  expect(badge()).toHaveTextContent(silent ? 'Failed' : 'Live')
})

test('§4 a wrong browser clock does not make the manager appear silent if the response has a Date header', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] }])
  const serverTime = Date.now() - 3_600_000
  network
    .get('/api/network/getManagerTimestamp')
    .answersWith(() =>
      HttpResponse.json(
        { success: true, data: { timestamp: serverTime - 4000 } },
        { headers: { date: new Date(serverTime).toUTCString() } },
      ),
    )
  expect(await screen.findByText('3fa2c1-lobby')).toBeVisible()
  expect(screen.queryByText('Manager Not Responding')).not.toBeInTheDocument()
})

test('the overview warns about a disk that is running out of space', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] }])
  const disk = (name: string, free: number, level: string) => ({ name, free, total: 100 * 2 ** 30, level })
  network
    .get('/api/network/getManagerTimestamp')
    .answers({ timestamp: Date.now(), disks: [disk('data', 2 * 2 ** 30, 'critical'), disk('share', 0, 'full')] })
  expect(
    await screen.findByText(
      'The disk of the platform’s data directory has 2 % (2.00 GB) left. Make room now: when it is full, nothing can be saved.',
    ),
  ).toBeVisible()
  expect(
    screen.getByText(
      'The disk of the shared area is full. Running instances continue, but nothing can be saved until there is room again.',
    ),
  ).toBeVisible()
})

test('the overview warns about a disk that is running out of inodes', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] }])
  const disk = (name: string, filesLeft: number, level: string) => ({
    name,
    free: 50 * 2 ** 30,
    total: 100 * 2 ** 30,
    level,
    filesLeft,
  })
  network
    .get('/api/network/getManagerTimestamp')
    .answers({ timestamp: Date.now(), disks: [disk('data', 1, 'low'), disk('share', 0, 'full')] })
  expect(
    await screen.findByText(
      'The disk of the platform’s data directory has room for 1 more file. When it is full, nothing can be saved.',
    ),
  ).toBeVisible()
  expect(screen.getByText(/^The disk of the shared area holds as many files as it can/)).toBeVisible()
})
