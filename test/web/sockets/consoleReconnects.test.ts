import { consoleLeft, consoleOpened, instanceRevived, powerRequested } from '../../../src/web/sockets/consoleSlice'
import { connected, disconnected } from '../../../src/web/sockets/realtimeSlice'
import { lobby, startConsole } from '../../support/web/consoleSocket'

const JAR_LINE = '[System] Jar file not found. Connection terminated.'

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

test('§4 a lost connection adds one system line and is retried after 100 ms, growing to 5 s', () => {
  const { far, open, lines, state } = startConsole()
  open()
  far.listener?.closed(1006)
  expect(state()).toMatchObject({ connection: 'closed', isLost: true, end: null })
  const waits: number[] = []
  for (let attempt = 0; attempt < 9; attempt++) {
    const before = far.urls.length
    let wait = 0
    for (; far.urls.length === before && wait < 10_000; wait += 10) jest.advanceTimersByTime(10)
    waits.push(wait)
    expect(state().connection).toBe('connecting')
    far.listener?.failed()
    far.listener?.closed(1006)
  }
  expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000])
  expect(lines()).toEqual([['system', '[System] Socket closed unexpectedly.']])
})

test('jitter shortens the retry delay by up to half, so that clients do not reconnect at once', () => {
  const { far, open } = startConsole({ random: 1 })
  open()
  far.listener?.closed(1006)
  jest.advanceTimersByTime(49)
  expect(far.urls).toHaveLength(1)
  jest.advanceTimersByTime(1)
  expect(far.urls).toHaveLength(2)
})

test('the retry delay resets only after a connection that lasted', () => {
  const { far, open } = startConsole()
  open()
  for (const [lasted, wait] of [
    [0, 100],
    [0, 200],
    [6000, 100],
    [0, 200],
  ] as const) {
    jest.advanceTimersByTime(lasted)
    far.listener?.closed(1006)
    const before = far.urls.length
    jest.advanceTimersByTime(wait - 1)
    expect(far.urls).toHaveLength(before)
    jest.advanceTimersByTime(1)
    expect(far.urls).toHaveLength(before + 1)
    far.listener?.opened()
  }
})

test("§8 a connection that never opens adds one 'Failed to establish connection.' line", () => {
  const { store, far, lines } = startConsole()
  store.dispatch(consoleOpened(lobby))
  for (let attempt = 0; attempt < 3; attempt++) {
    far.listener?.failed()
    far.listener?.closed(1006)
    jest.advanceTimersByTime(5000)
  }
  expect(lines()).toEqual([['error', 'Failed to establish connection.']])
})

test('§8 an exception from the WebSocket constructor adds the same line', () => {
  const { store, lines, state } = startConsole({
    connect: () => {
      throw new Error('SecurityError')
    },
  })
  store.dispatch(consoleOpened(lobby))
  expect(lines()).toEqual([['error', 'Failed to establish connection.']])
  expect(state()).toMatchObject({ connection: 'closed', isLost: true })
})

test('§8 an error on an open connection adds its line before the connection loss', () => {
  const { far, open, lines } = startConsole()
  open()
  far.listener?.failed()
  far.listener?.closed(1006)
  expect(lines()).toEqual([
    ['error', 'Connection error occurred.'],
    ['system', '[System] Socket closed unexpectedly.'],
  ])
})

test('decisions §6: a reconnect resumes after the last line received, counting blank lines', () => {
  const { far, open } = startConsole()
  open()
  far.receive({ type: 'message', content: 'one\n\nthree', seq: 41 })
  far.receive({ type: 'system', content: '[System] 3 lines skipped' })
  far.listener?.closed(1006)
  jest.advanceTimersByTime(100)
  expect(far.urls.at(-1)).toBe('ws://localhost/api/logs/lobby/lobby-1?since=44')
})

test('a reconnect omits the since parameter when the server does not number lines', () => {
  const { far, open } = startConsole()
  open()
  far.receive({ type: 'message', content: 'one' })
  far.listener?.closed(1006)
  jest.advanceTimersByTime(100)
  expect(far.urls.at(-1)).toBe('ws://localhost/api/logs/lobby/lobby-1')
})

test("§4 'Jar file not found!' closes the console without reconnecting and adds a system line", () => {
  const { far, open, lines, state } = startConsole()
  open()
  far.receive({ type: 'message', content: 'Jar file not found!' })
  jest.advanceTimersByTime(60_000)
  expect(far.closed).toBe(1)
  expect(far.urls).toHaveLength(1)
  expect(state()).toMatchObject({ connection: 'closed', isLost: false, end: 'jarMissing' })
  expect(lines()).toEqual([
    ['message', 'Jar file not found!'],
    ['system', JAR_LINE],
  ])
})

test.each(['start', 'restart'] as const)('after a missing jar, %s reconnects and is sent first', (action) => {
  const { store, far, open, state } = startConsole()
  open()
  far.receive({ type: 'message', content: 'Jar file not found!', seq: 9 })
  jest.advanceTimersByTime(1000)
  store.dispatch(powerRequested(action))
  expect(far.urls.at(-1)).toBe('ws://localhost/api/logs/lobby/lobby-1?since=10')
  expect(far.sent).toEqual([])
  far.listener?.opened()
  expect(far.sent).toEqual([{ type: 'power', action }])
  expect(state()).toMatchObject({ connection: 'open', end: null })
})

test("a 'Jar file not found!' line followed by other lines does not close the console", () => {
  const { far, open, state } = startConsole()
  open()
  far.receive({ type: 'message', content: 'Jar file not found!\nStarting', seq: 9 })
  jest.advanceTimersByTime(60_000)
  expect(far.closed).toBe(0)
  expect(state().connection).toBe('open')
})

// Our server sends the history by types of lines, one frame each.
test("a 'Jar file not found!' of the history, followed by frames with other lines, does not close the console", () => {
  const { far, open, lines, state } = startConsole()
  open()
  far.receive({ type: 'system', content: 'Jar file not found!', seq: 9 })
  far.receive({ type: 'message', content: 'Starting', seq: 10 })
  jest.advanceTimersByTime(60_000)
  expect(far.closed).toBe(0)
  expect(state().connection).toBe('open')
  expect(lines()).toHaveLength(2)
})

test("a change of state after 'Jar file not found!' is part of the failed start, and the console closes", () => {
  const { far, open, state } = startConsole()
  open()
  far.receive({ type: 'system', content: 'Jar file not found!', seq: 9 })
  far.receive({ type: 'power', content: 'BLOCKED' })
  jest.advanceTimersByTime(1000)
  expect(far.closed).toBe(1)
  expect(state()).toMatchObject({ connection: 'closed', end: 'jarMissing' })
})

test("a connection that is lost right after 'Jar file not found!' is opened again", () => {
  const { far, open, state } = startConsole()
  open()
  far.receive({ type: 'system', content: 'Jar file not found!', seq: 9 })
  far.listener?.closed(1006)
  jest.advanceTimersByTime(60_000)
  expect(far.urls[1]).toBe('ws://localhost/api/logs/lobby/lobby-1?since=10')
  expect(state().end).toBeNull()
})

test.each([
  [{ seq: 9 }, 2],
  [{}, 1],
])('the console reopens for a revived instance only when the server numbers lines: %j', (more, attempts) => {
  const { store, far, open } = startConsole()
  open()
  far.receive({ type: 'message', content: 'Jar file not found!', ...more })
  jest.advanceTimersByTime(1000)
  store.dispatch(instanceRevived())
  expect(far.urls).toHaveLength(attempts)
})

test('close code 4401 (session ended) closes the console silently without reconnecting', () => {
  const { far, open, lines, state } = startConsole()
  open()
  far.listener?.closed(4401)
  jest.advanceTimersByTime(60_000)
  expect(far.urls).toHaveLength(1)
  expect(state()).toMatchObject({ connection: 'closed', isLost: false, end: 'sessionEnded' })
  expect(lines()).toEqual([])
})

test('leaving the console cancels the pending reconnect', () => {
  const { store, far, open } = startConsole()
  open()
  far.listener?.closed(1006)
  store.dispatch(consoleLeft())
  jest.advanceTimersByTime(60_000)
  expect(far.urls).toHaveLength(1)
})

describe('a console that stays open while the real-time connection is lost', () => {
  const lose = ({ store }: ReturnType<typeof startConsole>) => store.dispatch(disconnected(1))
  const regain = ({ store }: ReturnType<typeof startConsole>) => store.dispatch(connected())

  test('security 234: may be half-open: it is replaced when the real-time connection is back, and resumes silently', () => {
    const console = startConsole()
    console.open()
    console.far.receive({ type: 'message', content: 'one', seq: 4 })
    lose(console)
    expect(console.far.urls).toHaveLength(1)
    regain(console)
    expect(console.far.closed).toBe(1)
    expect(console.far.urls.at(-1)).toBe('ws://localhost/api/logs/lobby/lobby-1?since=5')
    expect(console.state().connection).toBe('connecting')
    console.far.listener?.opened()
    expect(console.state().connection).toBe('open')
    expect(console.lines()).toEqual([['message', 'one']])
  })

  test('is replaced without a line number if it has shown no lines', () => {
    const console = startConsole()
    console.open()
    lose(console)
    regain(console)
    expect(console.far.urls).toHaveLength(2)
  })

  test('is kept if the server does not number lines, which would come again', () => {
    const console = startConsole()
    console.open()
    console.far.receive({ type: 'message', content: 'one' })
    lose(console)
    regain(console)
    expect(console.far.closed).toBe(0)
    expect(console.far.urls).toHaveLength(1)
  })

  test('is replaced once, and only if it was opened before the loss', () => {
    const console = startConsole()
    regain(console)
    console.open()
    regain(console)
    expect(console.far.urls).toHaveLength(1)
    lose(console)
    console.far.listener?.closed(1006)
    jest.advanceTimersByTime(100)
    console.far.listener?.opened()
    regain(console)
    regain(console)
    expect(console.far.urls).toHaveLength(2)
  })
})
