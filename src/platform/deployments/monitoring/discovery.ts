import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Peers } from '../../../contract/discovery'
import type { Runtime } from '../../runtime/runtime'
import type { Db } from '../../state/db'
import { listDeployments } from '../../state/deployments'
import { listInstances, type InstanceRow } from '../../state/instances'
import { tryParseDefinition } from '../definitions'
import { isDraining } from '../reconcile/drain'
import type { PlayerWatch } from './players'

/** Throttle: changes within this time are written together. The file is at most a second old (decisions §14). */
const WRITE_THROTTLE_MS = 100
const PEERS_FILE = 'peers.json'

export interface Discovery {
  /** The running instances of these deployments. An unknown name has an empty list. */
  peersOf(deployments: string[]): Promise<Peers>
  /** Writes an instance's peers file before its start. @returns the absolute path of its own directory */
  writePeersFile(podName: string, deployments: string[]): Promise<string>
  /** Removes the directory of a deleted instance. */
  removePeersFile(podName: string): Promise<void>
  /** Updates, after a short delay, the files whose content has changed. */
  scheduleUpdate(): void
  close(): Promise<void>
}

interface Network {
  peersOf(deployments: string[]): Peers
  rows: InstanceRow[]
  /** The deployments that the instance's definition lists under `discover`. */
  discoveredBy(row: InstanceRow): string[]
}

export function peersFileIn(directory: string): string {
  return join(directory, PEERS_FILE)
}

/**
 * Publishes the addresses of a network's instances: by a call, and in a file for each instance with `discover`.
 * @param directory contains one directory for each file
 */
export function createDiscovery({
  db,
  runtime,
  players,
  directory,
  log,
}: {
  db: Db
  runtime: Runtime
  players: () => PlayerWatch
  directory: string
  log: Logger
}): Discovery {
  /** The current content of each peers file, by pod name. */
  const written = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined
  let lastTurn: Promise<unknown> = Promise.resolve()
  let isClosed = false

  /** Serializes the updates. Each reads the state when its turn comes, so the last write holds the newest state. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = lastTurn.then(work)
    lastTurn = turn.catch(() => undefined)
    return turn
  }

  async function readNetwork(): Promise<Network> {
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
          players: players().playersOf(row.pod_name)?.count ?? null,
          draining: isDraining(row, run),
        },
      ]
    }
    return {
      rows,
      peersOf: (names) => ({
        deployments: Object.fromEntries(
          names.map((name) => [name, rows.filter(({ deployment }) => deployment === name).flatMap(peerOf)]),
        ),
      }),
      discoveredBy: (row) => {
        const deployment = deployments.find(({ name }) => name === row.deployment)
        return (deployment && tryParseDefinition(deployment.content).definition?.discover) ?? []
      },
    }
  }

  /** Writes a file atomically: a reader gets the old or the new text. */
  async function write(podName: string, text: string): Promise<void> {
    if (written.get(podName) === text) return
    const own = join(directory, podName)
    await mkdir(own, { recursive: true })
    // The umask of the platform must not keep the instance's own user from reading it.
    await Promise.all([chmod(directory, 0o755), chmod(own, 0o755)])
    const part = join(own, `.${PEERS_FILE}.part`)
    await writeFile(part, text)
    await chmod(part, 0o644)
    await rename(part, peersFileIn(own))
    written.set(podName, text)
  }

  const textOf = (peers: Peers) => `${JSON.stringify(peers)}\n`

  async function update(): Promise<void> {
    if (written.size === 0) return
    const network = await readNetwork()
    for (const row of network.rows) {
      if (written.has(row.pod_name)) await write(row.pod_name, textOf(network.peersOf(network.discoveredBy(row))))
    }
  }

  function scheduleUpdate(): void {
    if (isClosed) return
    timer ??= setTimeout(() => {
      timer = undefined
      inTurn(update).catch((error: unknown) => {
        log.warn({ err: error }, 'the peers files could not be written; it is tried again with the next change')
      })
    }, WRITE_THROTTLE_MS)
  }

  /** Files that an earlier platform wrote: their instances may still run. */
  lastTurn = readdir(directory).then(
    (names) => {
      for (const name of names) written.set(name, '')
      scheduleUpdate()
    },
    () => undefined,
  )
  const unwatch = runtime.watch(scheduleUpdate)

  return {
    scheduleUpdate,
    peersOf: async (deployments) => (await readNetwork()).peersOf(deployments),
    async writePeersFile(podName, deployments) {
      await inTurn(async () => write(podName, textOf((await readNetwork()).peersOf(deployments))))
      return join(directory, podName)
    },
    removePeersFile: (podName) =>
      inTurn(async () => {
        written.delete(podName)
        await rm(join(directory, podName), { recursive: true, force: true })
      }),
    async close() {
      isClosed = true
      unwatch()
      clearTimeout(timer)
      await lastTurn
    },
  }
}
