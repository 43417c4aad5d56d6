import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { startPlatform, type Account, type TestPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { TEST_POSTGRES_URL } = process.env
const sockets = new Set<Socket>()
let isSilent = false
let platform: TestPlatform
let ann: Account

/** A way to PostgreSQL on which, while `isSilent`, nothing gets through and nobody hangs up: as where the network is gone. */
const network = createServer((client) => {
  const { hostname, port } = new URL(TEST_POSTGRES_URL ?? '')
  const server = connect(Number(port), hostname)
  for (const [from, to] of [[client, server], [server, client]] as const) {
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
  platform = await startPlatform()
  ann = await platform.register('ann')
})
afterAll(async () => {
  await platform.close()
  process.env.TEST_POSTGRES_URL = TEST_POSTGRES_URL
  network.close()
})

test('security 52: while the state does not answer, signing in and sessions fail closed with 503, and work again once it is back', async () => {
  isSilent = true
  const signIn = () => platform.call('POST', '/api/auth/login', { body: { username: ann.username, password: ann.password } })
  const calls = await Promise.all([signIn(), platform.call('GET', '/api/sessions', { token: ann.token }), platform.call('GET', '/api/users', { token: ann.token })])
  expect(calls.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([503, 'UNAVAILABLE']))
  isSilent = false
  // What was lost on the way never comes: such connections break, as they do when a network comes back.
  for (const socket of sockets) socket.destroy()
  await until(signIn, ({ status }) => status === 200, 10)
  expect((await platform.call('GET', '/api/users', { token: ann.token })).status).toBe(200)
}, 60_000)
