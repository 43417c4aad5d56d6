import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { WebSocket } from 'ws'
import type { ConsoleFrame } from '../../../src/contract/sockets/consoleChannel'
import type { InstanceState } from '../../../src/contract/instance'
import type { Caller } from '../../../src/platform/caller'
import { createTrustedProxies } from '../../../src/platform/accounts/clientAddress'
import { openConsoleChannel, type ConsoleParts } from '../../../src/platform/sockets/consoleChannel'
import { until } from '../../support/platform/until'

let app: FastifyInstance
afterEach(() => app.close())

const ann: Caller = {
  userId: 1,
  username: 'ann',
  sessionId: '1',
  role: 'operator',
  isAdmin: false,
  grants: new Map(),
}

/** Opens a viewer of an instance whose runtime and power respond when the test resolves them. */
async function open(runtime: object, others: object): Promise<WebSocket> {
  const parts = {
    authenticate: async () => ann,
    callers: {
      present: async () => ann,
      find: async () => new Map([['session 1', ann]]),
      onChange: () => () => undefined,
    },
    origins: [],
    proxies: createTrustedProxies([]),
    activityLog: { record: () => undefined },
    plainCommands: async () => [],
    instanceState: async () => 'RUNNING',
    runtime: { follow: async () => () => undefined, watch: () => () => undefined, ...runtime },
    ...others,
  }
  app = Fastify()
  openConsoleChannel(app, parts as unknown as ConsoleParts)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return new WebSocket(`ws://127.0.0.1:${port}/api/logs/echo/echo-1`)
}

test('§4 viewers get states in order, however long reading a state takes', async () => {
  const looks: ((state: InstanceState) => void)[] = []
  let changed = () => {}
  const viewer = await open(
    {
      watch: (listener: () => void) => {
        changed = listener
        return () => undefined
      },
    },
    {
      instanceState: () => new Promise<InstanceState>((resolve) => looks.push(resolve)),
    },
  )
  const states: string[] = []
  viewer.on('message', (data) => states.push((JSON.parse((data as Buffer).toString()) as ConsoleFrame).content))
  await until(() => looks.length === 1)
  looks[0]!('RUNNING')
  await once(viewer, 'open')

  // Two changes at once: the second read starts when the first has finished.
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

test('the requests of a viewer are executed in order, however long each takes', async () => {
  const done: string[] = []
  const writes: (() => void)[] = []
  const viewer = await open(
    {
      write: (_podName: string, command: string) =>
        new Promise<boolean>((resolve) => writes.push(() => resolve(done.push(command) > 0))),
    },
    { power: { request: async (_podName: string, action: string) => void done.push(action) } },
  )
  await once(viewer, 'open')
  viewer.send(JSON.stringify({ type: 'command', command: 'save-all' }))
  viewer.send(JSON.stringify({ type: 'power', action: 'stop' }))
  viewer.ping()
  // The response to a ping follows everything that was read before it.
  await once(viewer, 'pong')
  await until(() => writes.length === 1)
  expect(done).toEqual([])
  writes[0]!()
  await until(() => done.length === 2)
  expect(done).toEqual(['save-all', 'stop'])
  viewer.terminate()
})
