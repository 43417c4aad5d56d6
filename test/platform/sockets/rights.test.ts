import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { io, type Socket } from 'socket.io-client'
import { WebSocket } from 'ws'
import type { Right } from '../../../src/contract/access'
import type { ClientBound } from '../../../src/contract/sockets/realtime'
import type { ConsoleFrame } from '../../../src/contract/sockets/consoleChannel'
import { CLOSE_RIGHTS_CHANGED, CLOSE_SESSION_ENDED, REALTIME_EVENT, SCOPES } from '../../../src/contract/pageRules'
import { awakeMs } from '../../support/time/awakeMs'
import { rightsOf, type RightsOf } from '../../support/platform/limitedUsers'
import type { Account, TestPlatform } from '../../support/platform/startPlatform'
import { startReplicas, type TestReplicas } from '../../support/platform/startReplicas'
import { until } from '../../support/platform/until'

let directory: string
let replicas: TestReplicas
let one: TestPlatform
let two: TestPlatform
let rights: RightsOf
let admin: Account
let guest: Account
let podName: string
const sockets: { close(): void }[] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quarterdeck-rights-'))
  replicas = await startReplicas(directory)
  ;({ one, two } = replicas)
  admin = await one.register('admin')
  guest = await one.register('guest')
  rights = rightsOf(one, admin)
  // It is ready as soon as there is no file `held` in its directory.
  const program =
    "const start = () => require('fs').existsSync('held') ? setTimeout(start, 20) : console.log('Ready'); start(); process.stdin.on('data', (text) => console.log('heard ' + text))"
  await rights.deploy(['own'])
  await one.call('PATCH', '/api/deployments/own', {
    token: admin.token,
    body: {
      content: `name: own\ntype: process\ndataDirectory: /own\nrun: { command: [node, -e, ${JSON.stringify(program)}] }\nready: Ready\n`,
    },
  })
  await one.call('POST', '/api/deployments/own/toggle', { token: admin.token, body: { enabled: true } })
  const instances = async () =>
    (await one.call('GET', '/api/deployments/own/instances', { token: admin.token })).body.data.instances as {
      podName: string
      state: string
    }[]
  podName = (await until(instances, ([first]) => first?.state === 'RUNNING'))[0]!.podName
  for (const { app } of [one, two]) await app.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close()
})
afterAll(async () => {
  await replicas.close()
  await rm(directory, { recursive: true, force: true })
})

const originOf = ({ app }: TestPlatform) => `127.0.0.1:${(app.server.address() as AddressInfo).port}`
const grant = (...granted: Right[]) =>
  rights.setAccess('guest', { role: 'limited', grants: [{ deployment: 'own', rights: granted }] })

interface Viewer {
  socket: WebSocket
  lines: string[]
  closed(): number | undefined
}

async function openConsole(platform: TestPlatform, token: string): Promise<Viewer> {
  const socket = new WebSocket(`ws://${originOf(platform)}/api/logs/own/${podName}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  sockets.push(socket)
  const lines: string[] = []
  let code: number | undefined
  socket.on('message', (data) => {
    const { type, content } = JSON.parse((data as Buffer).toString()) as ConsoleFrame
    lines.push(...content.split('\n').map((line) => `${type}: ${line}`))
  })
  socket.on('close', (closeCode) => (code = closeCode))
  await once(socket, 'open')
  return { socket, lines, closed: () => code }
}

function openRealtime(platform: TestPlatform, token: string): Socket {
  const socket = io(`http://${originOf(platform)}`, {
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
    extraHeaders: { authorization: `Bearer ${token}` },
  })
  sockets.push(socket)
  return socket
}

async function refusal(token: string, path = `/api/logs/own/${podName}`): Promise<{ status: number; body: string }> {
  const socket = new WebSocket(`ws://${originOf(one)}${path}`, { headers: { authorization: `Bearer ${token}` } })
  socket.on('error', () => undefined)
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  return { status: response.statusCode!, body: await text(response) }
}

const send = ({ socket }: Viewer, message: object) => socket.send(JSON.stringify(message))

test('decisions §16: with the right console, a limited user reads and writes, and does not stop the instance', async () => {
  await grant('console')
  const viewer = await openConsole(one, guest.token)
  await until(() => viewer.lines.includes('message: Ready'))
  send(viewer, { type: 'command', command: 'hello' })
  await until(() => viewer.lines.includes('message: heard hello'))
  send(viewer, { type: 'power', action: 'stop' })
  await until(() => viewer.lines.some((line) => line.includes('You do not have the right "power"')))
})

test('decisions §16: with the right power, a limited user is sent states and no line, and writes nothing', async () => {
  await grant('power')
  const viewer = await openConsole(one, guest.token)
  send(viewer, { type: 'command', command: 'secret order' })
  await until(() => viewer.lines.some((line) => line.includes('You do not have the right "console"')))
  // Viewers are sent the present state at each change, so a state of a moment may be passed over.
  const held = join(replicas.shareDir, 'own/held')
  await writeFile(held, '')
  send(viewer, { type: 'power', action: 'restart' })
  await until(() => viewer.lines.at(-1) === 'power: STARTING')
  await rm(held)
  await until(() => viewer.lines.at(-1) === 'power: RUNNING')
  expect(viewer.lines.filter((line) => line.startsWith('message') || line.startsWith('error'))).toEqual([])
})

test('decisions §16: with neither right, the console is refused', async () => {
  await grant('view', 'files', 'configuration')
  expect(await refusal(guest.token)).toMatchObject({ status: 403 })
})

test('decisions §16: a limited user reads the metrics of their own instances, and no others exist', async () => {
  await grant('view')
  const metrics = (kind: string, pod: string) =>
    one.call('GET', `/api/metrics/${kind}?pod=${pod}`, { token: guest.token })
  for (const kind of ['cpu', 'memory']) {
    expect(await metrics(kind, podName)).toMatchObject({ status: 200, body: { data: { data: expect.any(Array) } } })
    expect((await metrics(kind, 'others-000000')).status).toBe(404)
  }
  await rights.setAccess('guest', { role: 'limited', grants: [] })
  const refused = await metrics('cpu', podName)
  expect({ status: refused.status, message: refused.body.message }).toEqual({
    status: 404,
    message: (await metrics('cpu', 'others-000000')).body.message.replace('others-000000', podName),
  })
})

test.each(['one', 'two'] as const)(
  'decisions §16: a changed right closes the open sockets at replica %s within a second',
  async (name) => {
    await grant('console', 'power')
    const platform = replicas[name]
    const viewer = await openConsole(platform, guest.token)
    const realtime = openRealtime(platform, guest.token)
    await until(() => realtime.connected)
    await grant('view')
    const closing = until(() => viewer.closed() !== undefined && !realtime.connected)
    expect(await awakeMs(() => closing)).toBeLessThan(1000)
    expect(viewer.closed()).toBe(CLOSE_RIGHTS_CHANGED)
  },
)

test('an unchanged access leaves open sockets alone', async () => {
  await grant('console', 'power')
  const viewer = await openConsole(one, guest.token)
  const bob = await one.register('bob')
  const viewerOfBob = await openConsole(one, bob.token)
  await grant('power', 'console')
  // Changes are handled in their order: this one ends after the first one.
  await rights.setAccess('bob', { role: 'limited', grants: [] })
  await until(() => viewerOfBob.closed() === CLOSE_RIGHTS_CHANGED)
  expect(viewer.closed()).toBeUndefined()
})

test('an API key with the scope console on one deployment reads and writes its console, and no more', async () => {
  const key = await rights.createKey(admin, { scopes: ['console'], deployments: ['own'] })
  const viewer = await openConsole(two, key)
  await until(() => viewer.lines.includes('message: Ready'))
  send(viewer, { type: 'command', command: 'by key' })
  await until(() => viewer.lines.includes('message: heard by key'))
  send(viewer, { type: 'power', action: 'kill' })
  await until(() => viewer.lines.some((line) => line.includes('does not have the scope "power"')))
  expect((await one.call('GET', '/api/deployments', { token: key })).status).toBe(403)
  const { body } = await one.call('GET', '/api/activity?kind=command', { token: admin.token })
  expect(body.data.entries).toContainEqual(
    expect.objectContaining({ username: 'admin', api_key: 'of a test', action: 'sent command' }),
  )
})

test('decisions §16: an API key with the scope files opens the real-time socket, and one without is refused', async () => {
  const withFiles = openRealtime(two, await rights.createKey(admin, { scopes: ['files'] }))
  const ids: string[] = []
  withFiles.on(REALTIME_EVENT, ({ id }: ClientBound) => ids.push(id))
  await until(() => ids.length === 2)
  expect(ids).toEqual(['CLIENT_HANDSHAKE', 'CLIENT_FILE_SYNC'])
  const path = '/socket.io/?EIO=4&transport=websocket'
  const others = await rights.createKey(admin, { scopes: SCOPES.filter((scope) => scope !== 'files') })
  expect(await refusal(others, path)).toEqual({ status: 400, body: 'NOT_ALLOWED' })
  expect(await refusal(`qd_${'0'.repeat(40)}`, path)).toEqual({ status: 400, body: 'NO_SESSION' })
})

test('the sockets of a deleted API key are closed at every replica', async () => {
  const key = await rights.createKey(admin, { scopes: ['console', 'files'] })
  const viewers = [await openConsole(one, key), await openConsole(two, key)]
  const realtimes = [one, two].map((platform) => openRealtime(platform, key))
  await until(() => realtimes.every(({ connected }) => connected))
  const { body } = await one.call('GET', '/api/keys', { token: admin.token })
  const { id } = (body.data.keys as { id: string }[])[0]!
  expect(await one.call('DELETE', `/api/keys/${id}`, { token: admin.token })).toMatchObject({ status: 200 })
  await until(() => viewers.every(({ closed }) => closed() !== undefined))
  await until(() => realtimes.every(({ connected }) => !connected))
  expect(viewers.map(({ closed }) => closed())).toEqual([CLOSE_SESSION_ENDED, CLOSE_SESSION_ENDED])
  expect(await refusal(key)).toMatchObject({ status: 401 })
})
