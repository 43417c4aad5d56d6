import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { WebSocket } from 'ws'
import { createTrustedProxies } from '../../../src/platform/accounts/clientAddress'
import type { Caller, Credential } from '../../../src/platform/caller'
import { openConsoleChannel, type ConsoleParts } from '../../../src/platform/sockets/consoleChannel'
import { until } from '../../support/platform/until'

let app: FastifyInstance
const viewers: WebSocket[] = []
/** Ends the reading of consoles. */
let endReading = () => {}
afterEach(async () => {
  endReading()
  for (const viewer of viewers.splice(0)) viewer.terminate()
  await app.close()
})

const callerOf = (name = '') =>
  ({
    userId: name.length,
    sessionId: name,
    username: name,
    role: 'operator',
    isAdmin: false,
    grants: new Map(),
  }) satisfies Caller

const nameOf = (credential: Credential) => credential.slice('session '.length)

test('security 197: of a hundred consoles that a user opens, two are read at a time, and those of others overtake them', async () => {
  const read: string[] = []
  let inProgress = 0
  let most = 0
  const gate = new Promise<void>((resolve) => (endReading = resolve))
  app = Fastify()
  openConsoleChannel(app, {
    authenticate: async ({ headers }: { headers: { authorization?: string } }) => callerOf(headers.authorization),
    callers: {
      present: async (credential: Credential) => callerOf(nameOf(credential)),
      find: async () => new Map(),
      onChange: () => () => undefined,
    },
    origins: [],
    proxies: createTrustedProxies([]),
    instanceState: async () => 'RUNNING',
    runtime: {
      watch: () => () => undefined,
      follow: async (podName: string) => {
        read.push(podName)
        most = Math.max(most, (inProgress += 1))
        await gate
        inProgress -= 1
        return () => undefined
      },
    },
  } as unknown as ConsoleParts)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const view = (user: string, podName: string) => {
    const viewer = new WebSocket(`ws://127.0.0.1:${port}/api/logs/lobby/${podName}`, {
      headers: { authorization: user },
    }).on('error', () => undefined)
    viewers.push(viewer)
    return viewer
  }
  for (let at = 0; at < 90; at += 1) view('ann', `lobby-${at}`)
  await until(() => read.length >= 2)
  view('other', 'lobby-of-other')
  await until(() => read.includes('lobby-of-other'))
  expect(most).toBe(3)
  endReading()
  await until(() => read.length === 91)
  expect(most).toBe(3)
})

const withViewAlone = { role: 'limited' as const, grants: new Map([['lobby', new Set(['view'])]]) }

test.each([
  [401, 'its session ended', () => undefined],
  [403, 'the right was taken away', () => ({ ...callerOf('ann'), ...withViewAlone })],
])(
  'security 37: a console is refused with %i if %s while it waited for the lines',
  async (status, _reason, present) => {
    const gate = new Promise<void>((resolve) => (endReading = resolve))
    let isReading = false
    app = Fastify()
    openConsoleChannel(app, {
      authenticate: async () => callerOf('ann'),
      callers: { present: async () => present(), find: async () => new Map(), onChange: () => () => undefined },
      origins: [],
      proxies: createTrustedProxies([]),
      instanceState: async () => 'RUNNING',
      runtime: {
        watch: () => () => undefined,
        follow: async () => {
          isReading = true
          await gate
          return () => undefined
        },
      },
    } as unknown as ConsoleParts)
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const viewer = new WebSocket(`ws://127.0.0.1:${port}/api/logs/lobby/lobby-1`)
    viewers.push(viewer)
    const answered = new Promise<number | undefined>((resolve) =>
      viewer
        .on('error', () => undefined)
        .on('open', () => resolve(101))
        .on('unexpected-response', (_request, response) => resolve(response.statusCode)),
    )
    await until(() => isReading)
    endReading()
    expect(await answered).toBe(status)
  },
)
