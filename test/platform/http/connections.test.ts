import { execFileSync } from 'node:child_process'
import { connect, type AddressInfo, type Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { limitConnections, openFileLimit } from '../../../src/platform/http/connections'
import { until } from '../../support/platform/until'

let app: FastifyInstance | undefined
let logged: string[]
const sockets: Socket[] = []

async function listenWith(openFiles: number): Promise<number> {
  logged = []
  app = Fastify({ forceCloseConnections: true, logger: { level: 'warn', stream: { write: (line: string) => void logged.push(line) } } })
  limitConnections(app, openFiles)
  app.get('/', () => 'here')
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await app?.close()
})

test('the system tells how many files may be open', () => {
  // A child has the limit of its parent.
  expect(openFileLimit()).toBe(Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })))
})

test('half of the open files are for connections; what is above is refused, which is logged once, and there is room again when some end', async () => {
  const port = await listenWith(21)
  let refused = 0
  for (let count = 0; count < 15; count++) sockets.push(connect(port, '127.0.0.1').on('error', () => undefined).on('close', () => (refused += 1)))
  await until(() => refused === 5)
  expect(logged.filter((line) => line.includes('connections are refused'))).toHaveLength(1)
  for (const socket of sockets.splice(0)) socket.destroy()
  await until(() => new Promise((resolve) => app!.server.getConnections((_error, count) => resolve(count === 0))))
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
})

test('a connection that cannot be accepted is logged, and does not end the platform', async () => {
  const port = await listenWith(1000)
  // As Node.js tells of it when it has no descriptor left even to refuse with, which another thread may have taken.
  app!.server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  expect(logged.filter((line) => line.includes('a connection could not be accepted'))).toHaveLength(1)
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
})
