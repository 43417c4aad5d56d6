import { sessionEnded } from '../../../src/web/facts'
import {
  commandRefused,
  commandSent,
  commandSubmitted,
  consoleLeft,
  consoleOpened,
  linesReceived,
  powerRequested,
  stateReported,
} from '../../../src/web/sockets/consoleSlice'
import { KEPT_LENGTH } from '../../../src/web/sockets/lineBuffer'
import { lobby, startConsole } from '../../support/web/consoleSocket'
import { problemsIn } from '../../support/web/problems'

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

test('§4, §7 the console socket connects to the address of the instance and opens', () => {
  const { store, far, state } = startConsole()
  expect(state().connection).toBe('closed')
  store.dispatch(consoleOpened({ deployment: 'my lobby', podName: 'a/b' }))
  expect(state().connection).toBe('connecting')
  expect(far.urls).toEqual(['ws://localhost/api/logs/my%20lobby/a%2Fb'])
  far.listener?.opened()
  expect(state().connection).toBe('open')
  expect(state().isLost).toBe(false)
})

test('§7 content with several lines is split, and blank lines are dropped', () => {
  const { far, open, lines } = startConsole()
  open()
  far.receive({ type: 'message', content: 'one\r\n\n  \ntwo\n' })
  far.receive({ type: 'error', content: 'bad' })
  far.receive({ type: 'system', content: '[System] 12 lines skipped' })
  far.receive({ type: 'message', content: '[System] forged' })
  expect(lines()).toEqual([
    ['message', 'one'],
    ['message', 'two'],
    ['error', 'bad'],
    ['system', '[System] 12 lines skipped'],
    ['message', '[System] forged'],
  ])
})

test.each([
  [{}],
  [null],
  [7],
  ['text'],
  [[]],
  [{ type: 'message' }],
  [{ content: 'x' }],
  [{ type: '', content: 'x' }],
  [{ type: 'message', content: 7 }],
  [{ type: 'message', content: '' }],
])('§5 a frame without type or content is skipped: %j', (frame) => {
  const { far, open, lines } = startConsole()
  open()
  far.receive(JSON.stringify(frame))
  expect(lines()).toEqual([])
})

test('§8 a malformed frame adds an error line, and the next frame is read', () => {
  const { far, open, lines } = startConsole()
  open()
  far.receive('{"type":')
  far.receive({ type: 'message', content: 'fine' })
  expect(lines()).toEqual([
    ['error', 'Error parsing message'],
    ['message', 'fine'],
  ])
})

test('lines are dispatched in one action per animation frame, however many messages arrive', () => {
  const { far, open, facts, frame, frames } = startConsole()
  open()
  const counts = () =>
    facts.filter((fact) => linesReceived.match(fact)).map(({ payload }) => (payload as unknown[]).length)
  for (let count = 0; count < 20; count++) far.receive({ type: 'message', content: 'a\nb' })
  expect(counts()).toEqual([])
  expect(frames).toHaveLength(1)
  frame()
  expect(counts()).toEqual([40])
  frame()
  expect(counts()).toEqual([40])
})

test('a flood of lines is batched into ten actions a second; a single line is dispatched at once', () => {
  const { far, open, facts, frame } = startConsole()
  open()
  const count = () => facts.filter((fact) => linesReceived.match(fact)).length
  for (let time = 0; time < 1000; time += 20) {
    far.receive({ type: 'message', content: 'x\n'.repeat(200) })
    jest.advanceTimersByTime(20)
    frame()
  }
  expect(count()).toBeGreaterThanOrEqual(8)
  expect(count()).toBeLessThanOrEqual(11)
  jest.advanceTimersByTime(200)
  frame()
  const before = count()
  far.receive({ type: 'message', content: 'alone' })
  frame()
  far.receive({ type: 'message', content: 'again' })
  frame()
  expect(count()).toBe(before + 2)
})

test('decisions §6: lines waiting for a frame are limited to twice the buffer size, as in a hidden tab', () => {
  const { far, open, facts, frame, lines } = startConsole()
  open()
  for (let count = 0; count < 2000; count++) far.receive({ type: 'message', content: `${count} ${'x'.repeat(8000)}` })
  jest.advanceTimersByTime(200)
  frame()
  const received = facts
    .filter((fact) => linesReceived.match(fact))
    .flatMap(({ payload }) => payload as unknown as { content: string }[])
  expect(received.reduce((sum, { content }) => sum + content.length, 0)).toBeLessThanOrEqual(2 * KEPT_LENGTH)
  const shown = lines().map(([, content]) => Number(content!.split(' ')[0]))
  expect(shown).toEqual(Array.from({ length: shown.length }, (_, at) => 2000 - shown.length + at))
  expect(shown.length).toBeGreaterThan(500)
})

test('during a flood, key presses delay lines, at most twice the usual interval', () => {
  const { far, open, facts, frame } = startConsole()
  open()
  const count = () => facts.filter((fact) => linesReceived.match(fact)).length
  const after = (milliseconds: number, key?: string) => {
    jest.advanceTimersByTime(milliseconds)
    if (key) dispatchEvent(new KeyboardEvent('keydown', { key }))
    far.receive({ type: 'message', content: 'x\n'.repeat(200) })
    frame()
    return count()
  }
  jest.advanceTimersByTime(1000)
  expect(after(0)).toBe(1)
  expect(after(90, 'a')).toBe(1)
  expect(after(30)).toBe(1)
  expect(after(30)).toBe(2)
  // A key that is held down repeats.
  for (const time of [50, 100, 150]) expect([time, after(50, 'a')]).toEqual([time, 2])
  expect(after(50, 'a')).toBe(3)
})

test('§7 a command is sent only when the socket is open and the command is not blank', () => {
  const { store, far, facts } = startConsole()
  store.dispatch(consoleOpened(lobby))
  store.dispatch(commandSubmitted('too early'))
  expect(facts).toContainEqual(commandRefused())
  expect(problemsIn(store)).toEqual(['Failed to send a command to lobby-1: The console was not connected.'])
  far.listener?.opened()
  store.dispatch(commandSubmitted('   '))
  expect(facts).not.toContainEqual(commandSent())
  store.dispatch(commandSubmitted('say hi'))
  expect(facts).toContainEqual(commandSent())
  expect(far.sent).toEqual([{ type: 'command', command: 'say hi' }])
})

test('§7 power actions are sent on an open socket; on a closed socket only the problem log records them', () => {
  const { store, far, lines } = startConsole()
  store.dispatch(consoleOpened(lobby))
  store.dispatch(powerRequested('stop'))
  expect(far.sent).toEqual([])
  expect(problemsIn(store)).toEqual(['Failed to stop lobby-1: The console was not connected.'])
  expect(lines()).toEqual([])
  far.listener?.opened()
  for (const action of ['start', 'stop', 'restart', 'kill'] as const) store.dispatch(powerRequested(action))
  expect(far.sent).toEqual(['start', 'stop', 'restart', 'kill'].map((action) => ({ type: 'power', action })))
})

test('a power action that is repeated within a second is sent once, unless the state has changed since', () => {
  const { store, far, open } = startConsole()
  open()
  const sent = () => far.sent.map((request) => (request as { action: string }).action)
  for (let clicks = 0; clicks < 3; clicks++) store.dispatch(powerRequested('restart'))
  expect(sent()).toEqual(['restart'])
  jest.advanceTimersByTime(1000)
  store.dispatch(powerRequested('restart'))
  expect(sent()).toEqual(['restart', 'restart'])
  far.receive({ type: 'power', content: 'RUNNING' })
  store.dispatch(powerRequested('restart'))
  expect(sent()).toEqual(['restart', 'restart', 'restart'])
})

test('§4 a power message dispatches stateReported and logs the state unchanged', () => {
  const { far, open, facts, lines } = startConsole()
  open()
  far.receive({ type: 'power', content: 'STOPPING' })
  expect(facts).toContainEqual(stateReported({ ...lobby, state: 'STOPPING' }))
  expect(lines()).toEqual([['system', '[System] Instance state changed to: STOPPING']])
})

test('§4 switching instances closes the old console and opens the new one after 100 ms with an empty log', () => {
  const { store, far, open, lines, state } = startConsole()
  open()
  far.receive({ type: 'message', content: 'of the lobby', seq: 5 })
  expect(lines()).toHaveLength(1)
  store.dispatch(consoleOpened({ deployment: 'bot', podName: 'bot-1' }))
  expect(far.closed).toBe(1)
  expect(lines()).toEqual([])
  jest.advanceTimersByTime(99)
  expect(far.urls).toHaveLength(1)
  jest.advanceTimersByTime(1)
  expect(far.urls[1]).toBe('ws://localhost/api/logs/bot/bot-1')
  expect(state().connection).toBe('connecting')
})

test.each([0, 60])('§4 the 100 ms delay counts from when the old console was left, here %p ms before', (before) => {
  const { store, far, open } = startConsole()
  open()
  store.dispatch(consoleLeft())
  jest.advanceTimersByTime(before)
  store.dispatch(consoleOpened({ deployment: 'bot', podName: 'bot-1' }))
  jest.advanceTimersByTime(99 - before)
  expect(far.urls).toHaveLength(1)
  jest.advanceTimersByTime(1)
  expect(far.urls[1]).toBe('ws://localhost/api/logs/bot/bot-1')
})

test.each([
  ['another instance after the delay', { deployment: 'bot', podName: 'bot-1' }, 100],
  ['the same instance', lobby, 0],
])('%s is opened at once', (_case, target, after) => {
  const { store, far, open } = startConsole()
  open()
  store.dispatch(consoleLeft())
  jest.advanceTimersByTime(after)
  store.dispatch(consoleOpened(target))
  expect(far.urls).toHaveLength(2)
})

test.each([
  ['leaving the page', consoleLeft()],
  ['ending the session', sessionEnded('signedOut')],
])('%s closes the console and drops its lines, including pending ones', (_case, end) => {
  const { store, far, open, lines, frames, facts } = startConsole()
  open()
  far.receive({ type: 'message', content: 'shown' })
  lines()
  far.receive({ type: 'message', content: 'on its way' })
  const { listener } = far
  store.dispatch(end)
  expect(far.closed).toBe(1)
  expect(frames).toHaveLength(0)
  expect(lines()).toEqual([])
  jest.advanceTimersByTime(60_000)
  expect(far.urls).toHaveLength(1)
  expect(listener).toBeDefined()
  expect(facts.at(-1)).toEqual(end)
})
