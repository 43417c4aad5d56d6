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

export interface PlayerWatch {
  /** The players as of the last ping; undefined if it failed or none was made. Unknown does not mean empty. */
  playersOf(podName: string): Players | undefined
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

/** The port of an instance: each instance of a deployment on one machine has its own. */
export function portOf({ run }: Definition, slot: number): number | undefined {
  return run.port === undefined ? undefined : run.port + slot
}

/** Polls the players of every game server, and whether each instance listens on its port. */
export function watchPlayers({ db, runtime, listening, onChange, now }: WatchParts): PlayerWatch {
  const listenWatch = new ListenWatch()
  const limit = pLimit(MAX_PINGS)
  let known = new Map<string, Players>()
  let warnings = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let busy: Promise<void> = Promise.resolve()

  async function poll(): Promise<void> {
    const [{ servers, rows }, table] = await Promise.all([listServers(db, runtime), listening()])
    listenWatch.keepOnly(servers.map(({ run }) => run.runId))
    const answers = await Promise.all(
      servers.map(async ({ row: { pod_name: podName }, run, port, hasPlayers }) => {
        const local = isLoopback(run.ip) ? table : undefined
        const owner = await local?.ownerOf(port)
        // Another program's players do not count.
        const isOurs = !local || mayBeOf(owner, podName)
        return {
          podName,
          players: isOurs && hasPlayers ? await limit(() => (closed ? undefined : playersAt(run.ip, port))) : undefined,
          warning: local && listenWatch.check(run, port, owner, rows, now()),
        }
      }),
    )
    const before = JSON.stringify([[...known], [...warnings]])
    known = new Map(answers.flatMap(({ podName, players }) => (players ? [[podName, players] as const] : [])))
    warnings = new Map(answers.flatMap(({ podName, warning }) => (warning ? [[podName, warning] as const] : [])))
    if (JSON.stringify([[...known], [...warnings]]) !== before) onChange()
  }

  function pollAndSchedule(): void {
    busy = poll()
      // The database may be unavailable for a moment: keep the last result.
      .catch(() => undefined)
      .finally(() => {
        if (!closed) timer = setTimeout(pollAndSchedule, INTERVAL_MS)
      })
  }
  pollAndSchedule()

  return {
    playersOf: (podName) => known.get(podName),
    portWarning: (podName) => warnings.get(podName),
    async close() {
      closed = true
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
    return port === undefined ? [] : [{ row, run, port, hasPlayers: deployment.type !== 'process' }]
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
