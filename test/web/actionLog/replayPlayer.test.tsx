import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { act, fireEvent, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import type { ActionLog } from '../../../src/contract/actionLog'
import { PAGE_ROUTES } from '../../../src/contract/pageRoutes'
import { showMutationsOfLog } from '../../../src/web/actionLog/replay/mutationsOfLog'
import { markOf } from '../../../src/web/actionLog/replay/playback'
import { readLog } from '../../../src/web/actionLog/replay/readLog'
import { ReplayApp } from '../../../src/web/actionLog/ReplayApp'
import { replayLog } from '../../../src/web/actionLog/replay/checkLog'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { ReplayPlayer } from '../../../src/web/actionLog/ReplayPlayer'
import '../../../src/web/app/routing/routes'
import { routeChanged } from '../../../src/web/app/routing/routeSlice'
import { loadEarly } from '../../../src/web/chunks'
import { sessionStarted } from '../../../src/web/facts'
import { clock, setClock } from '../../../src/web/ui/time/clock'
import { call, exported } from '../../support/web/exportedLog'

const folder = join(__dirname, '../../replays')
const logs = readdirSync(folder).filter((name) => name.endsWith('.json'))
const textOf = (name: string) => readFileSync(join(folder, name), 'utf8')

// The replay page does the same.
beforeAll(showMutationsOfLog)
// jsdom has no layout to scroll.
beforeAll(() => void (Element.prototype.scrollIntoView = () => {}))

let requests: unknown[] = []
beforeEach(() => {
  requests = []
  const refuse = (...what: unknown[]) => {
    requests.push(what)
    return new Promise<never>(() => {})
  }
  jest.spyOn(globalThis, 'fetch').mockImplementation(refuse)
  jest.spyOn(Storage.prototype, 'setItem').mockImplementation((...what) => void requests.push(what))
  jest.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => {
  jest.restoreAllMocks()
  setClock(() => Date.now())
})

const position = () => screen.getByRole('slider', { name: 'Position' })
const jumpTo = (index: number) =>
  act(async () => void fireEvent.change(position(), { target: { value: String(index) } }))

async function play(name: string): Promise<ActionLog> {
  const log = readLog(textOf(name))
  await loadEarly()
  render(<ReplayPlayer log={log} replay={replayLog(log, replayReducer)} onClose={() => {}} />)
  return log
}

test.each(logs)(
  'the pages render every step of %s forwards and backwards without a request, and without using browser storage',
  async (name) => {
    const log = await play(name)
    const broken: number[] = []
    const show = async (index: number) => {
      await jumpTo(index)
      if (screen.queryByText('Something went wrong')) broken.push(index)
    }
    for (let index = 0; index < log.actions.length; index++) await show(index)
    for (let index = log.actions.length - 1; index >= -1; index -= 7) await show(Math.max(-1, index))
    expect(broken).toEqual([])
    await jumpTo(log.actions.length - 1)
    expect(await screen.findByRole('navigation', { name: 'Main' })).toBeInTheDocument()
    expect(requests).toEqual([])
    expect(document.cookie).toBe('')
    expect(clock()).toBe(log.startedAt + log.actions.at(-1)!.at)
  },
  240_000,
)

test('the step buttons move by one action, and the action list is searchable and shows state changes', async () => {
  const log = await play(logs[0]!)
  const user = userEvent.setup()
  await user.click(screen.getByRole('button', { name: 'Step forward' }))
  expect(position()).toHaveAttribute('aria-valuetext', `Action 1 of ${log.actions.length}: ${log.actions[0]!.type}`)
  await user.click(screen.getByRole('button', { name: 'Step back' }))
  expect(position()).toHaveAttribute('aria-valuetext', 'Before the first action')
  expect(screen.getByRole('button', { name: 'Step back' })).toHaveAttribute('aria-disabled', 'true')
  expect(screen.getByRole('button', { name: 'Step back' })).toHaveFocus()

  await user.click(screen.getByRole('button', { name: 'Show actions' }))
  const list = screen.getByRole('complementary', { name: 'Actions' })
  await user.type(within(list).getByLabelText('Search actions'), 'theme/themeChosen')
  await user.click(
    within(list)
      .getAllByRole('button', { name: /theme\/themeChosen/ })
      .at(-1)!,
  )
  expect(within(list).getByText('theme')).toBeVisible()
  expect(document.documentElement.dataset.bsTheme).toBe('dark')
})

test('the timeline marks failures and navigations, and the links of replayed pages do nothing', async () => {
  const log = await play(logs[0]!)
  const marks = log.actions.map(markOf)
  expect(document.querySelectorAll('.mark.failure')).toHaveLength(marks.filter((mark) => mark === 'failure').length)
  expect(document.querySelectorAll('.mark.navigation')).toHaveLength(
    marks.filter((mark) => mark === 'navigation').length,
  )
  await jumpTo(log.actions.length - 1)
  const link = await screen.findByRole('link', { name: 'Files' })
  const click = new MouseEvent('click', { bubbles: true, cancelable: true })
  act(() => void link.dispatchEvent(click))
  expect(click.defaultPrevented).toBe(true)
})

test('keys do not reach the replayed pages, except browser shortcuts such as copy and reload', async () => {
  const log = await play(logs[0]!)
  await jumpTo(log.actions.length - 1)
  const link = await screen.findByRole('link', { name: 'Files' })
  const heard = jest.fn()
  document.addEventListener('keydown', heard)
  /** Whether the browser default is kept. */
  const press = (init: KeyboardEventInit) => fireEvent.keyDown(link, init)
  for (const init of [{ key: 'Enter' }, { key: 'x' }, { key: 'Delete' }, { key: '/' }, { key: 'ArrowDown' }])
    expect({ ...init, isLeft: press(init) }).toEqual({ ...init, isLeft: false })
  for (const init of [
    { key: 'c', ctrlKey: true },
    { key: 'c', metaKey: true },
    { key: 'F5' },
    { key: 'Tab' },
    { key: 'PageDown' },
  ])
    expect({ ...init, isLeft: press(init) }).toEqual({ ...init, isLeft: true })
  document.removeEventListener('keydown', heard)
  expect(heard.mock.calls.map(([{ key }]) => key as string)).toEqual(['Tab', 'PageDown'])
})

test('a damaged file is rejected with a reason; a file from another build is played with a warning', async () => {
  render(<ReplayApp />)
  const user = userEvent.setup()
  // jsdom files have no arrayBuffer().
  const fileOf = (text: string) =>
    Object.assign(new File([text], 'log.json', { type: 'application/json' }), {
      arrayBuffer: async () => new TextEncoder().encode(text),
    })
  const choose = (text: string) => user.upload(screen.getByLabelText('Choose file'), fileOf(text))
  await choose(textOf(logs[0]!).slice(0, 1000))
  expect(await screen.findByRole('alert')).toHaveTextContent(
    'The file is not valid JSON, or it is incomplete: line 1, column',
  )
  await choose(textOf(logs[0]!))
  expect(await screen.findByText(/The log was recorded with build .*, but this is build source\./)).toBeVisible()
})

test('a replay can navigate away from every page', async () => {
  const addresses = PAGE_ROUTES.map((route) => route.replace(/:\w+/g, 'hub').replace('*', 'hub')).filter(
    (address) => address !== '/replay',
  )
  const { log } = exported([
    sessionStarted({ id: 's1', isAdmin: true, username: 'ann', expiresAt: 1e13 }),
    ...addresses.flatMap((address) => [routeChanged(address), routeChanged('/nowhere')]),
  ])
  await loadEarly()
  render(<ReplayPlayer log={log} replay={replayLog(log, replayReducer)} onClose={() => {}} />)
  const broken: unknown[] = []
  for (const [index, { payload }] of log.actions.entries()) {
    await jumpTo(index)
    if (screen.queryByText('Something went wrong')) broken.push([index, payload])
  }
  expect(broken).toEqual([])
})

test('a crashed page is shown again in the states before the crash, and stays crashed in the states after it', async () => {
  const users = (username: unknown) =>
    call('getUsers', undefined, 'fulfilled', [{ id: 1, username, is_admin: true, role: 'administrator' }])
  const { log } = exported([
    sessionStarted({ id: 's1', isAdmin: true, username: 'ann', expiresAt: 1e13 }),
    routeChanged('/admin'),
    call('getUsers', undefined, 'pending'),
    users('ann'),
    users({ not: 'a name' }),
    users('ann'),
  ])
  await loadEarly()
  render(<ReplayPlayer log={log} replay={replayLog(log, replayReducer)} onClose={() => {}} />)
  for (const [index, isBroken] of [
    [3, false],
    [4, true],
    [5, true],
    [3, false],
    [4, true],
    [2, false],
  ] as const) {
    await jumpTo(index)
    expect({ index, isBroken: screen.queryByText('Something went wrong') !== null }).toEqual({ index, isBroken })
  }
})

test('decisions §10: the log contains no file contents, and a replay shows only their length', async () => {
  const log = readLog(textOf(logs[0]!))
  const opened = log.actions.findIndex(
    ({ type, payload }) => type === 'api/executeMutation/fulfilled' && Object.hasOwn(payload ?? {}, 'encoding'),
  )
  Object.assign(log.actions[opened]!.payload as object, { characters: 1204, lines: 1 })
  await loadEarly()
  render(<ReplayPlayer log={log} replay={replayLog(log, replayReducer)} onClose={() => {}} />)
  await jumpTo(opened)
  expect(await screen.findByText('1,204 characters, 1 line, not recorded')).toBeVisible()
  expect(screen.queryByText('Loading the file')).not.toBeInTheDocument()
})
