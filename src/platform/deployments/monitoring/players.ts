import pLimit from 'p-limit'
import type { Definition } from '../../../contract/deployment'
import type { Runtime, RuntimeInstance } from '../../runtime/runtime'
import type { Db } from '../../state/db'
import { listDeployments } from '../../state/deployments/deployments'
import { listInstances, type InstanceRow } from '../../state/deployments/instances'
import { tryParseDefinition } from '../definitions'
import { bedrockPing } from './bedrockPing'
import type { Listening } from './listeningSockets'
import { ListenWatch, mayBeOf } from './portChecks'
import { serverListPing, type Players } from './serverListPing'

const INTERVAL_MS = 5000
const PING_TIMEOUT_MS = 2000
/** Maximum number of concurrent pings. */
const MAX_PINGS = 100
/** Older counts are unknown: they say nothing about the present, for example after an outage of the database. */
const MAX_AGE_MS = 20_000
const MAX_PORT = 65_535

export interface PlayerWatch {
  /**
   * The players of a run as of its last ping; undefined if that failed or is too long ago, or none was made. Unknown
   * does not mean empty.
   */
  playersOf(run: Pick<RuntimeInstance, 'podName' | 'runId'>): Players | undefined
  /** A warning for the operator if a ready instance does not listen on its port. */
  portWarning(podName: string): string | undefined
  close(): Promise<void>
}

interface WatchParts {
  db: Db
  runtime: Runtime
  listening: () => Promise<Listening | undefined>
  /** Called when the players or the warning of an instance have changed. */
  onChange: () => void
  now: () => number
}

interface Server {
  row: InstanceRow
  run: RuntimeInstance
  port: number
  hasPlayers: boolean
}

/** The players of a run, and when they were counted, on the clock of `performance.now`. */
interface Counted {
  runId: string
  players: Players
  at: number
}

/**
 * The port of an instance: each instance of a deployment on one machine has its own. Undefined also if that would be
 * none: the definition had a lower port, or more instances, when the instance got its slot.
 */
export function portOf({ run }: Definition, slot: number): number | undefined {
  return run.port === undefined || run.port + slot > MAX_PORT ? undefined : run.port + slot
}

/** Polls the players of every game server, and whether each instance listens on its port. */
export function watchPlayers({ db, runtime, listening, onChange, now }: WatchParts): PlayerWatch {
  const listenWatch = new ListenWatch()
  const limit = pLimit(MAX_PINGS)
  let known = new Map<string, Counted>()
  let warnings = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let busy: Promise<void> = Promise.resolve()

  /** One failing ping must not keep the players of others from being counted. */
  const count = ({ ip, runId }: RuntimeInstance, port: number) =>
    limit(async (): Promise<Counted | undefined> => {
      const at = performance.now()
      const players = isClosed ? undefined : await playersAt(ip, port).catch(() => undefined)
      return players && { runId, players, at }
    })

  async function poll(): Promise<void> {
    const [{ servers, rows }, table] = await Promise.all([listServers(db, runtime), listening()])
    listenWatch.keepOnly(servers.map(({ run }) => run.runId))
    const results = await Promise.all(
      servers.map(async ({ row: { pod_name: podName }, run, port, hasPlayers }) => {
        const local = isLoopback(run.ip) ? table : undefined
        const owner = await local?.ownerOf(port)
        // Another program's players do not count.
        const isOurs = !local || mayBeOf(owner, podName)
        return {
          podName,
          counted: isOurs && hasPlayers ? await count(run, port) : undefined,
          warning: local && listenWatch.check(run, port, owner, rows, now()),
        }
      }),
    )
    const shown = () => JSON.stringify([[...known].map(([podName, { players }]) => [podName, players]), [...warnings]])
    const before = shown()
    known = new Map(results.flatMap(({ podName, counted }) => (counted ? [[podName, counted] as const] : [])))
    warnings = new Map(results.flatMap(({ podName, warning }) => (warning ? [[podName, warning] as const] : [])))
    if (shown() !== before) onChange()
  }

  function pollAndSchedule(): void {
    busy = poll()
      // The database may be unavailable for a moment: keep the last result.
      .catch(() => undefined)
      .finally(() => {
        if (!isClosed) timer = setTimeout(pollAndSchedule, INTERVAL_MS)
      })
  }
  pollAndSchedule()

  return {
    playersOf({ podName, runId }) {
      const counted = known.get(podName)
      // The last count may be that of the run before.
      return counted?.runId === runId && performance.now() - counted.at < MAX_AGE_MS ? counted.players : undefined
    },
    portWarning: (podName) => warnings.get(podName),
    async close() {
      isClosed = true
      clearTimeout(timer)
      await busy
    },
  }
}

/** Includes STARTING instances, because players can join even if the ready pattern never matches. */
async function listServers(db: Db, runtime: Runtime): Promise<{ servers: Server[]; rows: InstanceRow[] }> {
  const [deployments, rows, runs] = await Promise.all([listDeployments(db), listInstances(db), runtime.list()])
  const runOf = new Map(
    runs.filter(({ state }) => state === 'RUNNING' || state === 'STARTING').map((run) => [run.podName, run]),
  )
  const deploymentOf = new Map(deployments.map((deployment) => [deployment.name, deployment]))
  const servers = rows.flatMap((row) => {
    const run = runOf.get(row.pod_name)
    const deployment = deploymentOf.get(row.deployment)
    if (!run || !deployment) return []
    const { definition } = tryParseDefinition(deployment.content)
    // The run's port comes first: the definition may have changed since. Older hosts do not report it.
    const port = run.port ?? (definition && portOf(definition, row.slot))
    // A Pod without an address would be one of this machine.
    return port === undefined || run.ip === '' ? [] : [{ row, run, port, hasPlayers: deployment.type !== 'process' }]
  })
  return { servers, rows }
}

const isLoopback = (ip: string) => ip.startsWith('127.') || ip === '::1'

/** Pings a server of either edition. Both pings have limits, because the server runs a user's program. */
export async function playersAt(host: string, port: number): Promise<Players | undefined> {
  const players = await serverListPing(host, port, PING_TIMEOUT_MS)
  if (players) return players
  // Servers of the Bedrock Edition have a ping of their own, which reports no names.
  const count = await bedrockPing(host, port, PING_TIMEOUT_MS)
  return count === undefined ? undefined : { count, names: {} }
}
