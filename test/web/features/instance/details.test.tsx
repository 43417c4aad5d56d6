import { act, screen, waitFor, within } from '@testing-library/react'
import { lobby, PATH, CALL, instancePage, card } from '../../../support/web/instancePage'

afterEach(() => jest.restoreAllMocks())

test('§2 Details shows pod name, IP, player count and player names', async () => {
  await instancePage({ players: { a: 'Ann', b: 'Bob' } }, `${PATH}?tab=details`)
  const details = screen.getByRole('region', { name: 'Instance Details' })
  expect(details).toHaveTextContent('Pod namepod-3fa2c1-lobby')
  expect(details).toHaveTextContent('IP10.0.0.1')
  expect(details).toHaveTextContent('Player count2')
  expect(
    within(details)
      .getAllByRole('listitem')
      .map((item) => item.textContent),
  ).toEqual(['Ann', 'Bob'])
})

test('the pod name and the IP are copied from Details', async () => {
  const { user } = await instancePage({}, `${PATH}?tab=details`)
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(screen.getByRole('button', { name: 'Copy the pod name' }))
  await user.click(screen.getByRole('button', { name: 'Copy the IP' }))
  expect(write.mock.calls).toEqual([['pod-3fa2c1-lobby'], ['10.0.0.1']])
})

test.each([
  [5, 'Player count5', '5 connections'],
  [null, 'Player countUnknown: the server does not answer', 'connections unknown'],
])(
  '§14 Details and the status card show the reported number of players: %p',
  async (playerCount, count, connections) => {
    await instancePage({ players: { a: 'Ann' }, playerCount, connections: playerCount ?? 0 }, `${PATH}?tab=details`)
    expect(screen.getByRole('region', { name: 'Instance Details' })).toHaveTextContent(count)
    expect(card('Status')).toHaveTextContent(connections)
  },
)

test('§14 Details shows the warnings of the instance first', async () => {
  const warning = 'The instance is ready but does not listen on port 25565: no program does.'
  await instancePage({ warnings: [warning] }, `${PATH}?tab=details`)
  const [first] = screen.getAllByRole('term')
  expect(first).toHaveTextContent('Warning')
  expect(first!.nextElementSibling).toHaveTextContent(warning)
})

test('§12 Details shows limits that are not enforced', async () => {
  const warnings = ['cpu', 'memory'].map(
    (limit) => `resources.${limit} (1) is not enforced on this machine: control groups cannot be written here.`,
  )
  await instancePage({ state: 'STOPPED', warnings }, `${PATH}?tab=details`)
  for (const warning of warnings)
    expect(screen.getByRole('region', { name: 'Instance Details' })).toHaveTextContent(`Warning${warning}`)
})

test('a late start is shown on the status card and in Details until the instance is ready', async () => {
  const lateStart = { afterSeconds: 300, waitingFor: 'a console line that matches Done \\(' }
  const { console } = await instancePage({ state: 'STARTING', lateStart }, `${PATH}?tab=details`)
  expect(card('Status')).toHaveTextContent('StatusStarting UpNot ready after 300 s')
  expect(screen.getByRole('region', { name: 'Instance Details' })).toHaveTextContent(
    'Not ready yetAfter 300 s it still waits for a console line that matches Done \\(',
  )
  act(() => console.receive({ type: 'power', content: 'RUNNING' }))
  await waitFor(() => expect(card('Status')).toHaveTextContent('StatusOnline0 connections'))
})

test('Details shows only pod name, IP and player count when the server sends no other fields', async () => {
  await instancePage({}, `${PATH}?tab=details`)
  expect(screen.getAllByRole('term').map((term) => term.textContent)).toEqual(['Pod name', 'IP', 'Player count'])
  expect(screen.queryByText('Crash details')).toBeNull()
})

test('Details shows port, start time, restarts, last exit and the reason for a block', async () => {
  const lastExit = { code: 3, signal: null, at: 1_700_000_000_000, reason: 'Ended by itself with exit code 3' }
  await instancePage(
    { port: 25_567, startedAt: 1_700_000_000_000, restarts: 2, lastExit, blockedReason: 'It crashed 5 times' },
    `${PATH}?tab=details`,
  )
  const details = screen.getByRole('region', { name: 'Instance Details' })
  expect(details).toHaveTextContent('IP10.0.0.1Port25567')
  expect(details).toHaveTextContent(/Started[23] years ago/)
  expect(within(details).getAllByTitle(/2023/)).toHaveLength(2)
  expect(details).toHaveTextContent('Restarts after crashes2')
  expect(details).toHaveTextContent('Last exit code3')
  expect(details).toHaveTextContent('Ended by itself with exit code 3')
  expect(details).toHaveTextContent('Blocked becauseIt crashed 5 times')
})

describe('the crash details', () => {
  const crash = {
    exit: { code: 3, signal: null, at: 1, reason: 'Out of memory' },
    lines: [{ seq: 1, type: 'error', content: '\u001b[31m<b>boom</b>\u001b[0m' }],
    cpu: [],
    memory: [],
  }
  const lines = () => screen.getByLabelText('The last 1 line')

  async function crashed() {
    const page = await instancePage({ crashedAt: 1_700_000_000_000 }, `${PATH}?tab=details`)
    const call = page.network.get(`${CALL}/${lobby.uid}/crash`).answers(crash)
    return { ...page, call, show: () => page.user.click(screen.getByRole('button', { name: 'Show' })) }
  }

  test('are loaded on demand and shown as text', async () => {
    const { call, show } = await crashed()
    expect(call.calls).toHaveLength(0)
    await show()
    expect(await screen.findByText('<b>boom</b>')).toBeVisible()
    expect(screen.getByText('Out of memory')).toBeVisible()
  })

  test('are requested again with Show after a failure, whose reason is shown', async () => {
    const { network, show } = await crashed()
    const failed = network.get(`${CALL}/${lobby.uid}/crash`).answers(503, { message: 'The state is away' })
    await show()
    expect(await screen.findByRole('alert')).toHaveTextContent('The state is away')
    expect(failed.calls).toHaveLength(1)
    network.get(`${CALL}/${lobby.uid}/crash`).answers(crash)
    await show()
    expect(await screen.findByText('Out of memory')).toBeVisible()
  })

  test('are scrolled to their last line once, not on each return to the tab', async () => {
    jest.spyOn(Element.prototype, 'scrollHeight', 'get').mockReturnValue(700)
    const scrolledTo = jest.fn()
    Element.prototype.scrollIntoView = function () {
      scrolledTo(this)
    }
    const { user, show } = await crashed()
    await show()
    await screen.findByText('<b>boom</b>')
    expect(lines().scrollTop).toBe(700)
    expect(scrolledTo.mock.calls).toEqual([[lines()]])
    await user.click(screen.getByRole('tab', { name: 'Console' }))
    await user.click(screen.getByRole('tab', { name: 'Details' }))
    expect(lines()).toBeVisible()
    expect(scrolledTo).toHaveBeenCalledTimes(1)
  })

  test('are downloaded unchanged', async () => {
    const { user, show } = await crashed()
    await show()
    const createUrl = jest.spyOn(URL, 'createObjectURL').mockReturnValue('#')
    await user.click(await screen.findByRole('button', { name: 'Download' }))
    expect(JSON.parse(await (createUrl.mock.calls[0]![0] as Blob).text())).toEqual(crash)
  })
})
