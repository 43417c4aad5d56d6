import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { waitFor } from '@testing-library/react'
import type { WebSocket as ServerSocket } from 'ws'
import { WebSocketServer } from 'ws'
import { makeStore } from '../../../src/web/app/store'
import { connectConsole } from '../../../src/web/sockets/connectConsole'
import '../../../src/web/sockets/consoleSocket'
import { commandSubmitted, consoleLeft, consoleOpened, powerRequested } from '../../../src/web/sockets/consoleSlice'
import { allLines } from '../../../src/web/sockets/lineBuffer'
import { fakeRealtime, fakeServices, fakeUploads } from '../../support/web/services'

/** A console server that numbers its lines, as the platform does. */
class Console {
  server!: WebSocketServer
  port = 0
  readonly asked: string[] = []
  readonly heard: unknown[] = []
  private readonly lines: string[] = []

  async start() {
    this.server = new WebSocketServer({ port: this.port, host: '127.0.0.1' })
    await once(this.server, 'listening')
    this.port = (this.server.address() as AddressInfo).port
    this.server.on('connection', (socket, { url = '' }) => {
      this.asked.push(url)
      socket.on('message', (data) => this.heard.push(JSON.parse((data as Buffer).toString())))
      const since = Number(new URL(url, 'ws://host').searchParams.get('since') ?? 1)
      this.send([socket], since)
    })
  }

  print(...lines: string[]) {
    const seq = this.lines.length + 1
    this.lines.push(...lines)
    this.send([...this.server.clients], seq)
  }

  private send(sockets: Iterable<ServerSocket>, seq: number) {
    const content = this.lines.slice(seq - 1).join('\n')
    if (content) for (const socket of sockets) socket.send(JSON.stringify({ type: 'message', content, seq }))
  }

  drop() {
    for (const socket of this.server.clients) socket.terminate()
  }

  async stop() {
    this.drop()
    this.server.close()
    await once(this.server, 'close')
  }
}

let far: Console
let store: ReturnType<typeof makeStore>
const lines = () => allLines(store.getState().console!.buffer).map(({ content }) => content)
const connection = () => store.getState().console!.connection

beforeEach(async () => {
  far = new Console()
  await far.start()
  const { cookies, storage, now } = fakeServices()
  store = makeStore({
    cookies,
    storage,
    now,
    connectRealtime: fakeRealtime().connect,
    sendUpload: fakeUploads().send,
    connectConsole: (url, listener) =>
      connectConsole(url.replace('//localhost/', `//127.0.0.1:${far.port}/`), listener),
  })
})
afterEach(async () => {
  store.dispatch(consoleLeft())
  await far.stop()
})

test('a real socket carries lines, commands and power', async () => {
  far.print('one', 'two')
  store.dispatch(consoleOpened({ deployment: 'lobby', podName: 'lobby-1' }))
  await waitFor(() => expect(lines()).toEqual(['one', 'two']))
  expect(far.asked).toEqual(['/api/logs/lobby/lobby-1'])
  store.dispatch(commandSubmitted('say hi'))
  store.dispatch(powerRequested('restart'))
  await waitFor(() =>
    expect(far.heard).toEqual([
      { type: 'command', command: 'say hi' },
      { type: 'power', action: 'restart' },
    ]),
  )
  expect(lines()).toEqual(['one', 'two', '> say hi'])
})

test('a real socket resumes after a loss without gaps or duplicates', async () => {
  far.print('one', 'two')
  store.dispatch(consoleOpened({ deployment: 'lobby', podName: 'lobby-1' }))
  await waitFor(() => expect(lines()).toEqual(['one', 'two']))

  far.drop()
  far.print('while away')
  await waitFor(() => expect(lines()).toEqual(['one', 'two', '[System] Socket closed unexpectedly.', 'while away']))
  expect(far.asked[1]).toBe('/api/logs/lobby/lobby-1?since=3')

  await far.stop()
  await waitFor(() => expect(connection()).toBe('closed'))
  await far.start()
  far.print('after the restart')
  await waitFor(() => expect(lines().at(-1)).toBe('after the restart'))
  expect(lines().filter((line) => !line.startsWith('[System]'))).toEqual([
    'one',
    'two',
    'while away',
    'after the restart',
  ])
  expect(lines().filter((line) => line.startsWith('[System]'))).toEqual(
    Array(2).fill('[System] Socket closed unexpectedly.'),
  )
})

test('leaving the console before the socket opens closes the socket without events', async () => {
  far.print('one')
  store.dispatch(consoleOpened({ deployment: 'lobby', podName: 'lobby-1' }))
  store.dispatch(consoleLeft())
  store.dispatch(consoleOpened({ deployment: 'lobby', podName: 'lobby-2' }))
  await waitFor(() => expect(lines()).toEqual(['one']))
  await waitFor(() => expect(far.server.clients.size).toBe(1))
  expect(connection()).toBe('open')
})
