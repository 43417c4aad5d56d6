import { randomUUID } from 'node:crypto'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { watchPlayers, type PlayerWatch } from '../../../src/platform/deployments/monitoring/players'
import type { Runtime, RuntimeInstance } from '../../../src/platform/runtime/runtime'
import { insertDeployment } from '../../../src/platform/state/deployments/deployments'
import { insertInstance } from '../../../src/platform/state/deployments/instances'
import { freshState, type FreshState } from '../../support/platform/freshState'
import { until } from '../../support/platform/until'

let state: FreshState
/** Answers each ping with the number of players that a test sets. */
let server: Server
let online = 3
let port: number
let runs: RuntimeInstance[]
/** Until it resolves, the runtime does not answer. */
let answering = Promise.resolve()
let polls = 0
let watch: PlayerWatch

beforeAll(async () => {
  server = createServer((socket) => {
    const text = Buffer.from(`{"players":{"max":7,"online":${online}}}`)
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(Buffer.from([text.length + 2, 0, text.length, ...text])))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())

/** Adds a deployment with one instance, which runs. */
async function add(deployment: string, run: Partial<RuntimeInstance>, definedPort = port, slot = 0) {
  const podName = `${deployment}-abc123`
  const content = `name: ${deployment}\ntype: scalable\ndataDirectory: /lobby\nrun: { command: [x], port: ${definedPort} }\n`
  await insertDeployment(state.db, { name: deployment, type: 'scalable', content, enabled: true })
  await insertInstance(state.db, {
    uid: randomUUID(),
    deployment,
    name: `abc123-${deployment}`,
    pod_name: podName,
    slot,
  })
  const base = { podName, runId: deployment, state: 'RUNNING', ip: '127.0.0.1', port, startedAt: 1 } as const
  runs.push({ ...base, exit: undefined, ...run })
}

beforeEach(async () => {
  state = await freshState()
  online = 3
  runs = []
  answering = Promise.resolve()
  await add('lobby', {})
  watch = watchPlayers({
    db: state.db,
    runtime: { list: async () => answering.then(() => runs) } as unknown as Runtime,
    listening: async () => void (polls += 1),
    onChange: () => undefined,
    now: Date.now,
  })
  await until(() => count() === 3)
})
afterEach(async () => {
  jest.restoreAllMocks()
  await watch.close()
  await state.close()
})

const count = (at = 0) => watch.playersOf(runs[at]!)?.count

test('security 187: after a restart the players of an instance are unknown, until its new run has answered a ping', async () => {
  runs = [{ ...runs[0]!, runId: 'second' }]
  expect(count()).toBeUndefined()
  await until(() => count() === 3)
})

test('security 182: players that could not be counted for a while, as in an outage, are unknown', async () => {
  let answer = (): void => undefined
  answering = new Promise((resolve) => (answer = resolve))
  const now = performance.now.bind(performance)
  jest.spyOn(performance, 'now').mockImplementation(() => now() + 60_000)
  expect(count()).toBeUndefined()
  answer()
  await until(() => count() === 3)
})

test('security 186: an instance whose port is none does not keep the players of others from being counted', async () => {
  // It got its slot when its deployment had more instances and no port, or a lower one.
  await add('broken', { port: undefined }, 65_535, 5)
  const before = polls
  await until(() => polls > before + 1)
  online = 4
  await until(() => count() === 4)
  expect(count(1)).toBeUndefined()
}, 30_000)

test('§14 the players of a server of this machine are not those of a Pod that has no address yet', async () => {
  await add('pod', { ip: '' })
  const before = polls
  await until(() => polls > before + 2)
  expect([count(0), count(1)]).toEqual([3, undefined])
}, 30_000)
