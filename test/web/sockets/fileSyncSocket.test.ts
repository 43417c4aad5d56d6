import { pageLeft, pageLoaded, sessionEnded, sessionStarted } from '../../../src/web/facts'
import { makeStore } from '../../../src/web/app/store'
import '../../../src/web/features/problems/problemsSlice'
import { selectConnected, selectFilesSynced, sendRequested } from '../../../src/web/sockets/realtimeSlice'
import { problemsIn } from '../../support/web/problems'
import { fakeConsole, fakeRealtime, fakeServices, fakeUploads } from '../../support/web/services'

const ann = { id: 'ann', isAdmin: false, expiresAt: Date.now() + 3_600_000 }

function makeRealtimeStore() {
  const realtime = fakeRealtime()
  const { cookies, storage, now } = fakeServices()
  const store = makeStore({
    cookies,
    storage,
    now,
    connectConsole: fakeConsole().connect,
    connectRealtime: realtime.connect,
    sendUpload: fakeUploads().send,
  })
  return { store, realtime }
}

function connected() {
  const { store, realtime } = makeRealtimeStore()
  store.dispatch(pageLoaded())
  store.dispatch(sessionStarted(ann))
  realtime.listener?.connected()
  return { store, realtime, receive: (message: unknown) => realtime.listener?.received(message) }
}

beforeEach(() => jest.spyOn(console, 'warn').mockImplementation(() => {}))
afterEach(() => jest.restoreAllMocks())

test.each([
  ['page first', [pageLoaded(), sessionStarted(ann)]],
  ['session first', [sessionStarted(ann), pageLoaded()]],
])(
  '§4 the real-time connection opens once the page has loaded and a user is signed in: %s',
  (_case, [first, second]) => {
    const { store, realtime } = makeRealtimeStore()
    store.dispatch(first!)
    expect(realtime.opened).toBe(0)
    store.dispatch(second!)
    expect(realtime.opened).toBe(1)
    expect(selectConnected(store.getState())).toBe(false)
    realtime.listener?.connected()
    expect(selectConnected(store.getState())).toBe(true)
  },
)

test.each([
  ['teardown', pageLeft()],
  ['the end of the session', sessionEnded('signedOut')],
])('§4 the real-time connection closes on %s and reopens afterwards', (_case, end) => {
  const { store, realtime } = connected()
  store.dispatch(end)
  expect(realtime.closed).toBe(1)
  expect(selectConnected(store.getState())).toBe(false)
  store.dispatch(pageLoaded())
  store.dispatch(sessionStarted(ann))
  expect(realtime.opened).toBe(2)
})

test('§4 files count as synced initially, not after sync_started, and again after sync_completed', () => {
  const { store, receive } = connected()
  expect(selectFilesSynced(store.getState())).toBe(true)
  receive({ id: 'CLIENT_FILE_SYNC', data: { event: 'sync_started' } })
  expect(selectFilesSynced(store.getState())).toBe(false)
  receive({ id: 'CLIENT_FILE_SYNC', data: { event: 'something_new' } })
  expect(selectFilesSynced(store.getState())).toBe(false)
  receive({ id: 'CLIENT_FILE_SYNC', data: { event: 'sync_completed' } })
  expect(selectFilesSynced(store.getState())).toBe(true)
})

test('§5 the file-sync listener does not validate payloads, and malformed payloads change nothing', () => {
  const { store, receive } = connected()
  for (const data of [undefined, null, 7, 'sync_started', [], {}]) receive({ id: 'CLIENT_FILE_SYNC', data })
  expect(selectFilesSynced(store.getState())).toBe(true)
  expect(problemsIn(store)).toEqual([])
})

test.each([
  [undefined],
  [null],
  ['CLIENT_FILE_SYNC'],
  [{}],
  [{ data: { event: 'sync_started' } }],
  [{ id: '' }],
  [{ id: 7 }],
])('§5 a message without an id is rejected, and only the problem log records it: %p', (message) => {
  const { store, receive } = connected()
  const before = store.getState()
  receive(message)
  expect(store.getState()).toEqual({ ...before, problems: expect.anything() })
  expect(problemsIn(store)).toEqual(['Dropped a real-time message: It has no id.'])
})

test.each([['SOMETHING_ELSE'], ['toString'], ['__proto__']])('§7 the id selects the listener; %p has none', (id) => {
  const { store, receive } = connected()
  const before = store.getState()
  receive({ id, data: {} })
  expect(store.getState()).toEqual({ ...before, problems: expect.anything() })
  expect(problemsIn(store)).toEqual([`Dropped the real-time message ${id}: Its id is not known.`])
})

test('decisions §6: CLIENT_HANDSHAKE is answered with SERVER_HANDSHAKE_ACK', () => {
  const { realtime, receive } = connected()
  receive({ id: 'CLIENT_HANDSHAKE', data: { hello: 'quarterdeck' } })
  expect(realtime.sent).toEqual([{ id: 'SERVER_HANDSHAKE_ACK', data: { helloResponse: 'quarterdeck' } }])
})

test.each([[undefined], [{}], [{ hello: 1 }]])('§5 a message with an invalid payload is dropped: %p', (data) => {
  const { store, realtime, receive } = connected()
  receive({ id: 'CLIENT_HANDSHAKE', data })
  expect(realtime.sent).toEqual([])
  expect(problemsIn(store)).toEqual(['Dropped the real-time message CLIENT_HANDSHAKE: Its data is not valid.'])
})

test('§5 sending while disconnected returns false and adds to the problem log', () => {
  const { store, realtime } = connected()
  expect(store.dispatch(sendRequested({ id: 'PING' }))).toBe(true)
  realtime.online = false
  expect(store.dispatch(sendRequested({ id: 'PING' }))).toBe(false)
  expect(problemsIn(store)).toEqual(['Failed to send the real-time message PING: The page is not connected.'])
  store.dispatch(sessionEnded('signedOut'))
  expect(store.dispatch(sendRequested({ id: 'PING' }))).toBe(false)
  expect(realtime.sent).toEqual([{ id: 'PING' }])
})
