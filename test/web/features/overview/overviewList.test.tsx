import { screen, waitFor, within } from '@testing-library/react'
import { deploymentOf, instanceOf } from '../../../support/web/factories'
import { fakeClock, pass } from '../../../support/web/fakeClock'
import { lobby, manyOf, sectionOf } from '../../../support/web/overviewPage'
import { renderApp } from '../../../support/web/renderApp'

const bot = deploymentOf('discord-bot', { typeIndex: 3 })
const events = deploymentOf('events', { enabled: false })
const attention = () => screen.findByRole('region', { name: /^Needs attention/ })
const links = () => screen.getAllByRole('link', { name: /-lobby|-discord-bot/ }).map((link) => link.textContent)

afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

test('the totals show instances online, players, average CPU and memory of the network', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  const limits = { memory: 2_097_152 }
  network.shows([
    {
      deployment: deploymentOf('proxy', { typeIndex: 0 }),
      instances: [
        instanceOf('0a0a0a-proxy', { players: {}, playerCount: 7, cpu: 10, memory: { used: 0.5, total: 1 }, limits }),
      ],
    },
    {
      deployment: lobby,
      instances: [
        instanceOf('3fa2c1-lobby', { players: {}, playerCount: 4, cpu: 20, memory: { used: 1, total: 2 }, limits }),
        instanceOf('77e0d4-lobby', { players: {}, playerCount: 2, cpu: 30, memory: { used: 1, total: 2 }, limits }),
        instanceOf('81bb20-lobby', { state: 'STOPPED', cpu: 0, memory: { used: 0, total: 2 } }),
      ],
    },
  ])
  const totalOf = async (label: string) => (await screen.findByText(label, { selector: 'dt' })).parentElement
  expect(await totalOf('Instances online')).toHaveTextContent('Instances online3of 4')
  // The players on the servers are those of the proxy, where one has not joined a server.
  expect(await totalOf('Players')).toHaveTextContent(/^Players7$/)
  expect(await totalOf('CPU, average')).toHaveTextContent('20 %highest 30 %')
  expect(await totalOf('Memory')).toHaveTextContent('2.50of 5 GiB')
})

test('the total of memory is left out while an instance has no limit', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([
    {
      deployment: lobby,
      instances: [
        instanceOf('3fa2c1-lobby', { memory: { used: 1, total: 2 }, limits: { memory: 2_097_152 } }),
        instanceOf('77e0d4-lobby', { memory: { used: 1.5, total: 64 } }),
      ],
    },
  ])
  const memory = (await screen.findByText('Memory', { selector: 'dt' })).parentElement
  expect(memory).toHaveTextContent(/^Memory2.50GiB$/)
  expect(memory).toHaveAttribute('title', 'Some instances have no limit')
})

test('the section Needs attention is hidden while nothing needs attention', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([
    {
      deployment: lobby,
      instances: [instanceOf('3fa2c1-lobby'), instanceOf('77e0d4-lobby', { state: 'STARTING' })],
    },
  ])
  await sectionOf('lobby')
  expect(screen.queryByRole('region', { name: /^Needs attention/ })).toBeNull()
})

test('instances that need attention are listed by urgency, each with its reason and a link', async () => {
  jest.spyOn(console, 'error').mockImplementation(() => {})
  const { network, user } = renderApp('/', { signedInAs: 'ann' })
  const blocked = instanceOf('bbbbbb-lobby', {
    state: 'BLOCKED',
    blockedReason: 'Jar file not found! Expected path: /nfsshare/lobby/paper.jar',
  })
  network.shows([
    {
      deployment: lobby,
      instances: [
        instanceOf('aaaaaa-lobby', { draining: true, players: {}, playerCount: 4 }),
        instanceOf('cccccc-lobby', {
          state: 'STARTING',
          lateStart: { afterSeconds: 300, waitingFor: 'a console line that matches Done' },
        }),
        instanceOf('dddddd-lobby', { state: 'STOPPED', retry: { inMs: 8000, attempt: 3, of: 5 } }),
        blocked,
        { ...instanceOf('eeeeee-lobby'), state: 'EXPLODED' },
        instanceOf('ffffff-lobby'),
      ],
    },
    { deployment: bot },
  ])
  network.get('/api/deployments/discord-bot/instances').answers(503, { message: 'The runtime did not answer' })
  const items = within(await attention()).getAllByRole('listitem')
  expect(items.map((item) => item.textContent)).toEqual([
    'Unknowndiscord-botThe runtime did not answer',
    'Unknownlobby eeeeeeThe server reports the state EXPLODED',
    'Blockedlobby bbbbbbJar file not found! Expected path: /nfsshare/lobby/paper.jar. Start it to try again.Open files of lobby',
    expect.stringMatching(/^Restarting in \d slobby ddddddTry 3 of 5$/),
    'Not readylobby ccccccAfter 300 s it still waits for a console line that matches Done',
    'Draininglobby aaaaaa4 players left; no new ones join',
  ])
  expect(within(items[2]!).getByRole('link', { name: 'Open files of lobby' })).toHaveAttribute('href', '/files/lobby')
  await user.click(within(items[2]!).getByRole('link', { name: 'lobby bbbbbb' }))
  expect(window.location.pathname).toBe('/instance/lobby/uid-bbbbbb-lobby')
  expect((window.history.state as { usr: unknown }).usr).toEqual({ instance: blocked })
})

test('an instance whose start is tried again needs no start by the user', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  const blockedReason = 'Could not be started: the system has no memory left. The platform tries again.'
  network.shows([{ deployment: lobby, instances: [instanceOf('bbbbbb-lobby', { state: 'BLOCKED', blockedReason })] }])
  expect(within(await attention()).getByRole('listitem')).toHaveTextContent(`Blockedlobby bbbbbb${blockedReason}`)
  expect(await attention()).not.toHaveTextContent('Start it')
})

test('a remedy is offered only to users who have the right for it', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.get('/api/account').answers({ role: 'limited', grants: [{ deployment: 'lobby', rights: ['power'] }] })
  network.shows([
    {
      deployment: lobby,
      instances: [instanceOf('bbbbbb-lobby', { state: 'BLOCKED', blockedReason: 'Port 25565 is taken by proxy.' })],
    },
  ])
  expect(await attention()).toHaveTextContent('Port 25565 is taken by proxy. Start it to try again.')
  await waitFor(() => expect(screen.queryByRole('link', { name: 'Edit lobby' })).toBeNull())
})

test('of many instances that need attention six are listed, and a button shows all of them below', async () => {
  const { network, user } = renderApp('/', { signedInAs: 'ann' })
  const blocked = manyOf(8).map((instance) => ({ ...instance, state: 'BLOCKED' }))
  network.shows([
    { deployment: lobby, instances: blocked },
    { deployment: bot, instances: [instanceOf('5150aa-discord-bot')] },
  ])
  expect(within(await attention()).getAllByRole('link')).toHaveLength(6)
  await user.click(screen.getByRole('button', { name: 'Show all 8 below' }))
  await waitFor(() => expect(screen.queryByRole('region', { name: /^discord-bot/ })).toBeNull())
  expect(within(await sectionOf('lobby')).getAllByRole('link')).toHaveLength(8)
})

test.each([
  [12, 'Cards'],
  [13, 'Rows'],
  [24, 'Rows'],
  [25, 'Compact'],
])('%i instances are shown as %s until the user chooses', async (count, view) => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: manyOf(count) }])
  expect(await screen.findByRole('button', { name: view })).toHaveAttribute('aria-pressed', 'true')
})

test('§2 a row shows name, description, players, state and ID as a card does, and CPU, memory and uptime', async () => {
  const { network, user } = renderApp('/', { signedInAs: 'ann' })
  const instance = instanceOf('3fa2c1-lobby', {
    description: 'Main lobby',
    players: { a: 'Ann', b: 'Bob' },
    cpu: 4.25,
    memory: { used: 0.512, total: 2 },
  })
  network.shows([{ deployment: lobby, instances: [instance] }])
  await user.click(await screen.findByRole('button', { name: 'Rows' }))
  const row = screen.getByRole('link', { name: /^3fa2c1-lobby/ })
  for (const text of [
    'Main lobby',
    'Online',
    'ID: 3fa2c1',
    '2 players',
    'CPU 4.3 %',
    'Memory 0.51/2 GiB',
    'Uptime 3h 12m',
  ])
    expect(row).toHaveTextContent(text)
  expect(within(row).getByText('Online')).toHaveClass('state', 'running')
  await user.click(row)
  expect((window.history.state as { usr: unknown }).usr).toEqual({ instance })
})

test('an instance that does not run shows no CPU, memory or uptime', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann', stored: { overview: '{"view":"rows"}' } })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby', { state: 'STOPPED', uptime: '0s' })] }])
  expect((await screen.findByRole('link', { name: /^3fa2c1-lobby/ })).textContent).toBe('3fa2c1-lobbyOfflineID: 3fa2c1')
})

test('a row draws the CPU of the last polls as a line', async () => {
  fakeClock()
  const { network, store } = renderApp('/', { signedInAs: 'ann', stored: { overview: '{"view":"rows"}' } })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby', { cpu: 10 })] }])
  const row = await screen.findByRole('link', { name: /^3fa2c1-lobby/ })
  expect(row.querySelector('polyline')).toBeNull()
  for (const cpu of [20, 30, 40]) {
    network.get('/api/deployments/lobby/instances').answers({ instances: [instanceOf('3fa2c1-lobby', { cpu })] })
    await pass(3000)
    await waitFor(() => expect(store.getState().overview?.cpu['uid-3fa2c1-lobby']?.at(-1)).toBe(cpu))
  }
  expect(store.getState().overview?.cpu).toEqual({ 'uid-3fa2c1-lobby': [10, 20, 30, 40] })
  await waitFor(() => expect(row.querySelector('polyline')?.getAttribute('points')?.split(' ')).toHaveLength(4))
})

test('the search finds deployments, instances, players and nodes, and opens what it finds', async () => {
  const { network, user } = renderApp('/', { signedInAs: 'ann', stored: { overview: '{"collapsed":["lobby"]}' } })
  network.shows([
    {
      deployment: lobby,
      instances: [
        instanceOf('3fa2c1-lobby', { players: { a: 'Maren' } }),
        instanceOf('77e0d4-lobby', { node: 'node-b' }),
      ],
    },
    { deployment: bot, instances: [instanceOf('5150aa-discord-bot')] },
  ])
  const search = await screen.findByRole('searchbox', { name: 'Search instances' })
  expect(links()).toHaveLength(1)
  const find = async (text: string) => {
    await user.clear(search)
    await user.type(search, text)
  }
  await find('maren')
  await waitFor(() => expect(links()).toEqual([expect.stringMatching(/^3fa2c1-lobby/)]))
  expect(within(await sectionOf('lobby')).getByText('1 of 2 instances')).toBeVisible()
  await find('discord')
  await waitFor(() => expect(links()).toEqual([expect.stringMatching(/^5150aa-discord-bot/)]))
  await find('node-b')
  await waitFor(() => expect(links()).toEqual([expect.stringMatching(/^77e0d4-lobby/)]))
  expect(await sectionOf('lobby')).toHaveTextContent('on node-b')
  await find('nothing like it')
  expect(await screen.findByText('No instances match')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Show all instances' }))
  expect(search).toHaveValue('')
  await waitFor(() => expect(links()).toHaveLength(1))
})

test('the filter by state shows how many instances it leaves', async () => {
  const { network, user } = renderApp('/', { signedInAs: 'ann' })
  network.shows([
    {
      deployment: lobby,
      instances: [
        instanceOf('aaaaaa-lobby'),
        instanceOf('bbbbbb-lobby', { state: 'BLOCKED' }),
        instanceOf('cccccc-lobby', { state: 'STOPPED' }),
        instanceOf('dddddd-lobby', { state: 'STOPPED', retry: { inMs: 8000, attempt: 3, of: 5 } }),
      ],
    },
    { deployment: events },
  ])
  const choose = async (name: string) => {
    const button = await screen.findByRole('button', { name })
    await user.click(button)
    expect(button).toHaveAttribute('aria-pressed', 'true')
  }
  await choose('Online 1')
  await waitFor(() => expect(links()).toEqual([expect.stringMatching(/^aaaaaa/)]))
  expect(screen.queryByRole('region', { name: /^events/ })).toBeNull()
  await choose('Offline 1')
  await waitFor(() => expect(links()).toEqual([expect.stringMatching(/^cccccc/)]))
  await choose('Needs attention 2')
  await waitFor(() => expect(links()).toEqual([expect.stringMatching(/^bbbbbb/), expect.stringMatching(/^dddddd/)]))
  await choose('All 4')
  await waitFor(() => expect(links()).toHaveLength(4))
})

test('view, filter and collapsed deployments are kept over a reload', async () => {
  const { network, user, services } = renderApp('/', { signedInAs: 'ann' })
  const sections = [
    { deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] },
    { deployment: bot, instances: [instanceOf('5150aa-discord-bot')] },
  ]
  network.shows(sections)
  await user.click(await screen.findByRole('button', { name: /^lobby/ }))
  await user.click(screen.getByRole('button', { name: 'Compact' }))
  await user.click(screen.getByRole('button', { name: 'Online 2' }))
  const stored = Object.fromEntries(services.stored)

  const reloaded = renderApp('/', { signedInAs: 'ann', stored })
  reloaded.network.shows(sections)
  await waitFor(() =>
    expect(reloaded.store.getState().overview).toMatchObject({
      view: 'compact',
      filter: 'online',
      collapsed: ['lobby'],
    }),
  )
})

test('signing out forgets the names of deployments, and keeps the view', async () => {
  const { network, user, services } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] }])
  network.post('/api/auth/logout').answers({})
  await user.click(await screen.findByRole('button', { name: /^lobby/ }))
  await user.click(screen.getByRole('button', { name: 'Rows' }))
  expect(services.stored.get('overview')).toContain('lobby')
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await waitFor(() => expect(services.stored.get('overview')).toBe('{"view":"rows","filter":"all","collapsed":[]}'))
})

test('signing out on another page keeps the view and the filter that earlier visits stored', async () => {
  const stored = { overview: '{"view":"rows","filter":"online","collapsed":["lobby"]}' }
  const { network, user, services } = renderApp('/databases', { signedInAs: 'ann', stored })
  for (const engine of ['sql', 'mongo']) network.get(`/api/database/${engine}`).answers({ databases: [] })
  network.post('/api/auth/logout').answers({})
  await user.click(await screen.findByRole('button', { name: 'Logout' }))
  await waitFor(() => expect(services.stored.get('overview')).toBe('{"view":"rows","filter":"online","collapsed":[]}'))
})

test('settings stored by another version are ignored', async () => {
  const { network, store } = renderApp('/', {
    signedInAs: 'ann',
    stored: { overview: '{"view":"wall","filter":3,"collapsed":"all"}' },
  })
  network.shows([{ deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] }])
  await sectionOf('lobby')
  expect(store.getState().overview).toMatchObject({ view: null, filter: 'all', collapsed: [] })
})

test('all deployments collapse and expand at once, and a collapsed one renders no instances', async () => {
  const { network, user } = renderApp('/', { signedInAs: 'ann' })
  network.shows([
    { deployment: lobby, instances: [instanceOf('3fa2c1-lobby')] },
    { deployment: bot, instances: [instanceOf('5150aa-discord-bot')] },
  ])
  await user.click(await screen.findByRole('button', { name: 'Collapse all' }))
  expect(screen.queryByText('3fa2c1-lobby')).toBeNull()
  expect(screen.queryByText('5150aa-discord-bot')).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Expand all' }))
  expect(links()).toHaveLength(2)
})
