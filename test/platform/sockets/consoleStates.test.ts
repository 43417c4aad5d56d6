import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { WebSocket } from 'ws'
import type { ConsoleFrame } from '../../../src/contract/consoleChannel'
import type { InstanceState } from '../../../src/contract/instance'
import { createTrustedProxies } from '../../../src/platform/accounts/clientAddress'
import { openConsoleChannel, type ConsoleParts } from '../../../src/platform/sockets/consoleChannel'
import { until } from '../../support/platform/until'

let app: FastifyInstance
afterEach(() => app.close())

test('§4 viewers hear of states in their order, however long a look at them takes', async () => {
  const looks: ((state: InstanceState) => void)[] = []
  let changed = () => {}
  const parts = {
    sessions: { read: async () => ({ userId: '1', username: 'ann', sessionId: '1', isAdmin: false }), live: async (ids: string[]) => new Map(ids.map((id) => [id, false])) },
    origins: [],
    proxies: createTrustedProxies([]),
    runtime: {
      follow: async () => () => undefined,
      watch: (listener: () => void) => {
        changed = listener
        return () => undefined
      },
    },
    instanceState: () => new Promise<InstanceState>((resolve) => looks.push(resolve)),
  }
  app = Fastify()
  openConsoleChannel(app, parts as unknown as ConsoleParts)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const viewer = new WebSocket(`ws://127.0.0.1:${port}/api/logs/echo/echo-1`)
  const states: string[] = []
  viewer.on('message', (data) => states.push((JSON.parse((data as Buffer).toString()) as ConsoleFrame).content))
  await until(() => looks.length === 1)
  looks[0]!('RUNNING')
  await once(viewer, 'open')

  // Two changes at once: the second is looked at when the first look is over, and not before.
  changed()
  changed()
  await until(() => looks.length > 1)
  expect(looks).toHaveLength(2)
  looks[1]!('STOPPING')
  await until(() => looks.length > 2)
  looks[2]!('STOPPED')
  await until(() => states.length === 2)
  expect(states).toEqual(['STOPPING', 'STOPPED'])
  viewer.terminate()
})
