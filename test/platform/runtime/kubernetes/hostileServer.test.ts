import type { RequestListener } from 'node:http'
import pino from 'pino'
import { WebSocketServer, type WebSocket } from 'ws'
import type { ClusterClient } from '../../../../src/platform/runtime/kubernetes/clusterClient'
import {
  openKubernetesRuntime,
  type KubernetesParts,
} from '../../../../src/platform/runtime/kubernetes/kubernetesRuntime'
import { PodInput } from '../../../../src/platform/runtime/kubernetes/console/podInput'
import { startApiServer, type ApiServer } from '../../../support/platform/apiServer'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'

const root = useTemporaryDirectory()
let api: ApiServer
let sockets: WebSocketServer
let client: ClusterClient
let answer: RequestListener
/** What the server sends to each client that attaches. */
let attack: (socket: WebSocket) => void
let received: string[]

beforeEach(async () => {
  received = []
  api = await startApiServer(root(), (request, response) => answer(request, response))
  client = api.client
  sockets = new WebSocketServer({ server: api.server, handleProtocols: ([protocol]) => protocol ?? false })
  sockets.on('connection', (socket) => {
    socket.on('error', () => undefined)
    socket.on('message', (message: Buffer) => void received.push(message.toString()))
    attack(socket)
  })
})
afterEach(() => {
  for (const socket of sockets.clients) socket.terminate()
  api.close()
})

test.each<[string, string | Buffer]>([
  ['an empty message', Buffer.alloc(0)],
  ['output that was not asked for', Buffer.from([1, 65])],
  ['a status that is not JSON', Buffer.from([3, 60])],
  ['an unknown stream', Buffer.from([200, 0])],
  ['the end of an output', Buffer.from([255, 1])],
  ['an end without a stream', Buffer.from([255])],
  ['a text', '\u00ff\u0001'],
])('security 61: the input of an instance keeps working when the server sends %s', async (_what, message) => {
  attack = (socket) => socket.send(message)
  const input = new PodInput(client, 'lobby-1', pino({ level: 'silent' }))
  expect(await input.write('say one')).toBe(true)
  await until(() => received.length === 1)
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(await input.write('say two')).toBe(true)
  await until(() => received.length === 2)
  expect(received).toEqual(['\0say one\n', '\0say two\n'])
  input.close()
})

test('security 61: a huge message from the server ends only the connection to the input of that instance', async () => {
  attack = (socket) =>
    sockets.clients.size === 1 && received.length === 0 ? socket.send(Buffer.alloc(2 ** 20)) : undefined
  const input = new PodInput(client, 'lobby-1', pino({ level: 'silent' }))
  await input.write('say one')
  await until(() => sockets.clients.size === 0)
  attack = () => undefined
  await until(() => input.write('say two'))
  await until(() => received.includes('\0say two\n'))
  input.close()
})

test('security 61: an error response that is never completed, or is endless, is aborted in time', async () => {
  const never = new AbortController().signal
  answer = (_request, response) => void response.writeHead(500).write('{')
  await expect(client.stream('/x', {}, never)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  answer = (_request, response) => void response.writeHead(500).write('x'.repeat(2 ** 20))
  await expect(client.stream('/x', {}, never)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
}, 15_000)

test('security 61: the message of an error response is truncated, and one that is not a string is left out', async () => {
  const send = (message: unknown) => {
    answer = (_request, response) => void response.writeHead(403).end(JSON.stringify({ message }))
    return client.stream('/x', {}, new AbortController().signal).catch((error: unknown) => error as Error)
  }
  expect(((await send('x'.repeat(20_000))) as Error).message).toHaveLength(1000)
  expect(((await send({ toString: 1 })) as Error).message).toBe('')
})

test('security 65: repeated requests for the nodes share reads of the cluster, and starts of Pods do not wait behind them', async () => {
  const asked: string[] = []
  answer = ({ url = '' }, response) => {
    asked.push(url)
    const end = () => response.setHeader('content-type', 'application/json').end('{"metadata":{},"items":[]}')
    if (url.endsWith('/nodes')) setTimeout(end, 200)
    else end()
  }
  const runtime = openKubernetesRuntime({ client, log: pino({ level: 'silent' }) } as KubernetesParts)
  try {
    const nodes = Promise.all(Array.from({ length: 500 }, () => runtime.nodes!()))
    const since = performance.now()
    await client.call((core) => core.listNamespacedService({ namespace: 'games' }))
    expect(performance.now() - since).toBeLessThan(2000)
    expect(await nodes).toHaveLength(500)
    expect(asked.filter((url) => url.endsWith('/nodes')).length).toBeLessThan(5)
  } finally {
    await runtime.close()
  }
})
