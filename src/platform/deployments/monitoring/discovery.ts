import type { Logger } from 'pino'
import type { Peers } from '../../../contract/discovery'
import { createSharedRead } from '../../concurrency/sharedRead'
import { AppError, errorCodeOf } from '../../errors'
import type { Runtime } from '../../runtime/runtime'
import type { Db } from '../../state/db'
import { listDeployments } from '../../state/deployments/deployments'
import { groupByDeployment, listInstances, type InstanceRow } from '../../state/deployments/instances'
import { tryParseDefinition } from '../definitions'
import { isDraining } from '../reconcile/drain'
import { createPeersFiles } from './peersFiles'
import type { PlayerWatch } from './players'

/** Throttle: changes within this time are written together. The file is at most a second old (decisions §14). */
const WRITE_THROTTLE_MS = 100

export interface Discovery {
  /** The running instances of these deployments. An unknown name has an empty list. */
  peersOf(deployments: string[]): Promise<Peers>
  /** Writes an instance's peers file before its start. @throws AppError DISK_FULL, Node.js errors */
  writePeersFile(podName: string, deployments: string[]): Promise<void>
  /** Removes the directory of a deleted instance. */
  removePeersFile(podName: string): Promise<void>
  /** Updates, after a short delay, the files whose content has changed. */
  scheduleUpdate(): void
  close(): Promise<void>
}

export interface DiscoveryParts {
  db: Db
  runtime: Runtime
  players: () => PlayerWatch
  /** Contains one directory for each file. */
  directory: string
  /** Whether this platform writes the files. If several share the directory, only the manager does. Default: yes. */
  isActive?: () => boolean
  log: Logger
}

/** Publishes the addresses of a network's instances: by a call, and in a file for each instance with `discover`. */
export function createDiscovery(parts: DiscoveryParts): Discovery {
  const files = createPeersFiles(parts.directory)
  const readAll = createSharedRead(() => readNetwork(parts))
  let timer: NodeJS.Timeout | undefined
  let lastTurn: Promise<unknown> = Promise.resolve()
  let isClosed = false

  /** Serializes the updates. Each reads the state when its turn comes, so the last write holds the newest state. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = lastTurn.then(work)
    lastTurn = turn.catch(() => undefined)
    return turn
  }

  let wasActive = false

  async function update(): Promise<void> {
    const isActive = parts.isActive?.() ?? true
    // Another platform may have written files in the meantime.
    if (isActive && !wasActive) await files.find()
    wasActive = isActive
    if (!isActive || files.isEmpty()) return
    const network = await readAll()
    const failures: unknown[] = []
    for (const row of network.rows) {
      if (!files.has(row.pod_name)) continue
      await files
        .write(row.pod_name, network.peersOf(network.discoveredBy(row)))
        .catch((error: unknown) => void failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }

  function scheduleUpdate(): void {
    if (isClosed) return
    timer ??= setTimeout(() => {
      timer = undefined
      inTurn(update).catch((error: unknown) => {
        parts.log.warn({ err: error }, 'failed to write the peers files; the next change retries it')
      })
    }, WRITE_THROTTLE_MS)
  }

  scheduleUpdate()
  const unwatch = parts.runtime.watch(scheduleUpdate)

  return {
    scheduleUpdate,
    peersOf: async (deployments) => (await readAll()).peersOf(deployments),
    async writePeersFile(podName, deployments) {
      await inTurn(async () => files.write(podName, (await readAll()).peersOf(deployments))).catch((error: unknown) => {
        if (!['ENOSPC', 'EDQUOT'].includes(errorCodeOf(error) ?? '')) throw error
        throw new AppError('DISK_FULL', 'The disk has no room for the file with the addresses of other instances.')
      })
    },
    removePeersFile: (podName) => inTurn(() => files.remove(podName)),
    async close() {
      isClosed = true
      unwatch()
      clearTimeout(timer)
      await lastTurn
    },
  }
}

interface Network {
  peersOf(deployments: string[]): Peers
  rows: InstanceRow[]
  /** The deployments that the instance's definition lists under `discover`. */
  discoveredBy(row: InstanceRow): string[]
}

async function readNetwork({ db, runtime, players }: DiscoveryParts): Promise<Network> {
  const [deployments, rows, runs] = await Promise.all([listDeployments(db), listInstances(db), runtime.list()])
  const live = new Map(
    runs.flatMap((run) => (run.state === 'EXITED' ? [] : [[run.podName, { ...run, state: run.state }] as const])),
  )
  const peerOf = (row: InstanceRow) => {
    const run = live.get(row.pod_name)
    if (!run) return []
    const { ip, port = null, state } = run
    return [
      {
        podName: row.pod_name,
        ip,
        port,
        state,
        players: players().playersOf(run)?.count ?? null,
        draining: isDraining(row, run),
      },
    ]
  }
  const rowsOf = groupByDeployment(rows)
  const deploymentOf = new Map(deployments.map((deployment) => [deployment.name, deployment]))
  return {
    rows,
    peersOf: (names) => ({
      deployments: Object.fromEntries(names.map((name) => [name, (rowsOf.get(name) ?? []).flatMap(peerOf)])),
    }),
    discoveredBy: (row) => {
      const deployment = deploymentOf.get(row.deployment)
      return (deployment && tryParseDefinition(deployment.content).definition?.discover) ?? []
    },
  }
}
