import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import { usePlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { TEST_POSTGRES_URL } = process.env
const sockets = new Set<Socket>()
let isSilent = false

/**
 * A proxy to PostgreSQL that drops all data while `isSilent` but keeps connections open, as when the network is down.
 */
const network = createServer((client) => {
  const { hostname, port } = new URL(TEST_POSTGRES_URL ?? '')
  const server = connect(Number(port), hostname)
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    sockets.add(from)
    from.on('error', () => undefined)
    from.on('close', () => (sockets.delete(from), to.destroy()))
    from.on('data', (data) => isSilent || to.write(data))
  }
})

beforeAll(async () => {
  await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve))
  const url = new URL(TEST_POSTGRES_URL ?? '')
  url.port = String((network.address() as AddressInfo).port)
  process.env.TEST_POSTGRES_URL = url.href
})
const { platform, account: ann } = usePlatform('ann')
afterAll(() => {
  process.env.TEST_POSTGRES_URL = TEST_POSTGRES_URL
  network.close()
})

test('security 52: while the state does not answer, calls that do not need it are refused as well', async () => {
  const nodes = () => platform().call('GET', '/api/network/nodes', { token: ann().token })
  expect((await nodes()).status).toBe(200)
  isSilent = true
  expect(await until(nodes, ({ status }) => status !== 200, 10)).toMatchObject({
    status: 503,
    body: { code: 'UNAVAILABLE' },
  })
  isSilent = false
  for (const socket of sockets) socket.destroy()
  await until(nodes, ({ status }) => status === 200, 10)
}, 60_000)

test('security 52: while the state does not answer, sign-in and sessions fail closed with 503, and recover afterwards', async () => {
  isSilent = true
  const signIn = () =>
    platform().call('POST', '/api/auth/login', { body: { username: ann().username, password: ann().password } })
  const calls = await Promise.all([
    signIn(),
    platform().call('GET', '/api/sessions', { token: ann().token }),
    platform().call('GET', '/api/users', { token: ann().token }),
  ])
  expect(calls.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([503, 'UNAVAILABLE']))
  isSilent = false
  // Dropped data is never sent again, so these connections break, as they do when a network recovers.
  for (const socket of sockets) socket.destroy()
  await until(signIn, ({ status }) => status === 200, 10)
  expect((await platform().call('GET', '/api/users', { token: ann().token })).status).toBe(200)
}, 60_000)

test('security 52: while the state does not answer, consoles say so, queue few requests, and cannot be opened', async () => {
  const call = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) =>
    platform().call(method, path, { token: ann().token, body })
  const content =
    'name: idle\ntype: process\ndataDirectory: /idle\nrun: { command: ["node", "-e", "process.stdin.resume()"] }\nstop: { timeoutSeconds: 1 }\n'
  await call('POST', '/api/deployments', { name: 'idle', type: 'process' })
  expect(await call('PATCH', '/api/deployments/idle', { content })).toMatchObject({ status: 200 })
  await call('POST', '/api/deployments/idle/toggle', { enabled: true })
  const instances = await until(
    async () => (await call('GET', '/api/deployments/idle/instances')).body.data.instances as { podName: string }[],
    (all) => all.length > 0,
  )
  await platform().app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = platform().app.server.address() as AddressInfo
  const open = () =>
    new WebSocket(`ws://127.0.0.1:${port}/api/logs/idle/${instances[0]?.podName}`, {
      headers: { origin: `http://127.0.0.1:${port}`, cookie: `token=${ann().token}` },
    })
  const viewer = open()
  const said: string[] = []
  viewer.on('message', (data) => said.push((JSON.parse((data as Buffer).toString()) as { content: string }).content))
  await once(viewer, 'open')

  isSilent = true
  const refused = open()
  refused.on('error', () => undefined)
  const [, response] = (await once(refused, 'unexpected-response')) as [unknown, { statusCode: number }]
  expect(response.statusCode).toBe(503)
  // Stays within the limit of messages per second.
  let asked = 0
  await until(
    () => {
      if (asked++ % 2 === 0) viewer.send(JSON.stringify({ type: 'power', action: 'start' }))
      return said.includes('[System] Not done: too many earlier requests are still waiting.')
    },
    Boolean,
    20,
  )
  await until(() => said.includes('[System] The platform’s database does not answer. Try again in a moment.'))
  viewer.terminate()
  isSilent = false
  for (const socket of sockets) socket.destroy()
  await until(
    () => call('GET', '/api/users'),
    ({ status }) => status === 200,
    10,
  )
}, 60_000)
