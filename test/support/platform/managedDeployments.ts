import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import pino from 'pino'
import { createDeployments } from '../../../src/platform/deployments/deployments'
import { createDiscovery, type Discovery } from '../../../src/platform/deployments/monitoring/discovery'
import { createListeningSockets } from '../../../src/platform/deployments/monitoring/listeningSockets'
import { startManager, type Manager } from '../../../src/platform/deployments/reconcile/manager'
import type { reconcile } from '../../../src/platform/deployments/reconcile/reconcile'
import { createUsageMeter } from '../../../src/platform/deployments/monitoring/usageMeter'
import { peersFileOf } from '../../../src/platform/deployments/monitoring/peersFiles'
import { withLocalPaths } from '../../../src/platform/runtime/localPaths'
import { findDeploymentDirectory } from '../../../src/platform/share/deploymentDirectory'
import { openLocalRuntime } from '../../../src/platform/runtime/local/localRuntime'
import type { Runtime } from '../../../src/platform/runtime/runtime'
import { hasDiskRoom } from '../../../src/platform/share/disks'
import { createReplicas, type Replicas } from '../../../src/platform/share/replicas/replicas'
import { insertDeployment } from '../../../src/platform/state/deployments/deployments'
import { freshState, type FreshState } from './freshState'
import { stopHost } from './stopHost'
import { useTemporaryDirectory } from './temporaryDirectory'
import { until } from './until'

/** A program that prints its pid and keeps running. */
export const FOREVER = "console.log('pid ' + process.pid); setInterval(() => {}, 1000)"

/** The dependencies of a manager for one test file: a real state and a real runtime, with players set by the test. */
export interface ManagedDeployments {
  directory(): string
  shareDir(): string
  readonly state: FreshState
  readonly runtime: Runtime
  readonly discovery: Discovery
  readonly clock: { ahead: number }
  /** Another manager, as on another platform. */
  manage(pool?: Pool, more?: Partial<Parameters<typeof startManager>[0]>): Manager
  deployments(): ReturnType<typeof createDeployments>
  /** The dependencies of a single pass. */
  passParts(more?: Partial<PassParts>): PassParts
  /** Adds an enabled deployment whose instances run this text in Node.js. */
  add(name: string, program: string, more?: string, type?: string): Promise<void>
  stateOf(name: string): Promise<string | undefined>
  consoleOf(name: string): Promise<string[]>
  running(name: string): ReturnType<ReturnType<typeof createDeployments>['instances']>
  /** Sets the number of players; undefined means that the server does not answer. */
  fill(podName: string, players: number | undefined): void
  /** Opens discovery again, like a later platform. */
  reopenDiscovery(): Promise<void>
}

type PassParts = Parameters<typeof reconcile>[0]

/** Call it once, outside of tests. */
export function useManagedDeployments(): ManagedDeployments {
  const directory = useTemporaryDirectory()
  afterAll(async () => {
    await runtime.close()
    await replicas.close()
    await stopHost(directory())
  })
  const log = pino({ level: 'silent' })
  let state: FreshState
  let runtime: Runtime
  let replicas: Replicas
  let discovery: Discovery
  let managers: Manager[] = []
  const playing = new Map<string, number | undefined>()
  const countedPlayers = (count: number | undefined) => (count === undefined ? undefined : { count, names: {} })
  const watch = {
    playersOf: ({ podName }: { podName: string }) => countedPlayers(playing.has(podName) ? playing.get(podName) : 0),
    portWarning: () => undefined,
    close: async () => undefined,
  }
  const listening = createListeningSockets(() => runtime.list())
  const hasRoom = () => hasDiskRoom(directory())
  const clock = { ahead: 0 }
  const shareDir = () => join(directory(), 'nfsshare')
  const openDiscovery = () =>
    createDiscovery({ db: state.db, runtime, players: () => watch, directory: join(directory(), 'runtime/peers'), log })

  beforeAll(async () => {
    replicas = createReplicas(directory(), log)
    runtime = withLocalPaths(await openLocalRuntime({ dataDir: directory(), replicas }), {
      directory: (path) => findDeploymentDirectory({ shareDir: shareDir() }, path),
      peersFile: (podName) => peersFileOf(join(directory(), 'runtime/peers'), podName),
    })
  })
  beforeEach(async () => {
    playing.clear()
    clock.ahead = 0
    state = await freshState()
    discovery = openDiscovery()
    await mkdir(shareDir(), { recursive: true })
  })
  afterEach(async () => {
    await Promise.all(managers.map((manager) => manager.close()))
    managers = []
    // Without any deployments, a manager stops the remaining instances.
    await state.db.deleteFrom('deployments').execute()
    const last = manage()
    await until(
      () => runtime.list(),
      (all) => all.length === 0,
    )
    await last.close()
    managers = []
    await discovery.close()
    await state.close()
  })

  function manage(pool: Pool = state.pool, more: Partial<Parameters<typeof startManager>[0]> = {}): Manager {
    const manager = startManager({
      db: state.db,
      pool,
      runtime,
      players: watch,
      listening,
      hasRoom,
      discovery,
      shareDir: shareDir(),
      replicas,
      log,
      now: () => Date.now() + clock.ahead,
      ...more,
    })
    managers.push(manager)
    return manager
  }

  const deployments = () =>
    createDeployments({
      announceRights: async () => undefined,
      db: state.db,
      runtime,
      players: watch,
      usage: createUsageMeter(runtime, Date.now),
      now: Date.now,
      shareDir: shareDir(),
      nodes: async () => ['node-a'],
      wake: () => managers.at(-1)?.wake(),
    })

  return {
    directory,
    shareDir,
    get state() {
      return state
    },
    get runtime() {
      return runtime
    },
    get discovery() {
      return discovery
    },
    clock,
    manage,
    deployments,
    passParts: (more) => ({
      db: state.db,
      runtime,
      players: watch,
      listening,
      hasRoom,
      discovery,
      shareDir: shareDir(),
      replicas,
      log,
      now: Date.now,
      excessSince: new Map(),
      drainsBegun: new Map(),
      failedStarts: new Map(),
      loggedProblems: new Map(),
      ...more,
    }),
    async add(name, program, more = '', type = 'process') {
      const content = `name: ${name}\ntype: ${type}\ndataDirectory: /${name}\nrun:\n  command: ["node", "-e", ${JSON.stringify(program)}]\nstop: { timeoutSeconds: 1 }\n${more}`
      await insertDeployment(state.db, { name, type, content, enabled: true })
    },
    stateOf: async (name) => (await deployments().instances(name))[0]?.state,
    async consoleOf(name) {
      const [instance] = await deployments().instances(name)
      return instance ? (await runtime.history(instance.podName, 1000)).map(({ content }) => content) : []
    },
    running: async (name) =>
      (await deployments().instances(name)).filter(({ state: current }) => current === 'RUNNING'),
    fill: (podName, players) => void playing.set(podName, players),
    async reopenDiscovery() {
      await discovery.close()
      discovery = openDiscovery()
    },
  }
}
