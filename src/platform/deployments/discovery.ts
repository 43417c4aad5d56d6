import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Peers } from '../../contract/discovery'
import type { Runtime } from '../runtime/runtime'
import type { Db } from '../state/db'
import { listDeployments } from '../state/deployments'
import { listInstances, type InstanceRow } from '../state/instances'
import { storedDefinition } from './definitions'
import { isDraining } from './drain'
import type { PlayerWatch } from './players'

/** Changes that come together are written together. In milliseconds; the file is at most a second behind (decisions §14). */
const GATHER_MS = 100
const PEERS_FILE = 'peers.json'

export interface Discovery {
  /** The instances of these deployments that run; a name that is not there has none. */
  peersOf(deployments: string[]): Promise<Peers>
  /**
   * Puts the peers file of an instance in place, before its start.
   * @returns the absolute path of its directory, which holds nothing else.
   */
  prepare(podName: string, deployments: string[]): Promise<string>
  /** Removes the directory of an instance that is gone. */
  forget(podName: string): Promise<void>
  /** Has the files written anew where they have changed. */
  changed(): void
  close(): Promise<void>
}

interface Network {
  peersOf(deployments: string[]): Peers
  rows: InstanceRow[]
  /** What an instance's definition names under `discover`. */
  discoveredBy(row: InstanceRow): string[]
}

/** The path of an instance's peers file within its directory. */
export function peersFileIn(directory: string): string {
  return join(directory, PEERS_FILE)
}

/**
 * Tells instances where the others of their network are: by a file for each instance whose definition says `discover`, and by a call.
 * @param directory where the files' directories are.
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
  /** What the file of each instance holds. */
  const written = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined
  let busy: Promise<unknown> = Promise.resolve()
  let isClosed = false

  /** One at a time, and each looks when its turn comes: what is written last is what was seen last. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = busy.then(work)
    busy = turn.catch(() => undefined)
    return turn
  }

  async function look(): Promise<Network> {
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
          players: players().of(row.pod_name)?.count ?? null,
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
        return (deployment && storedDefinition(deployment.content).definition?.discover) ?? []
      },
    }
  }

  /** Whoever reads the file sees the old or the new text. */
  async function write(podName: string, text: string): Promise<void> {
    if (written.get(podName) === text) return
    const own = join(directory, podName)
    await mkdir(own, { recursive: true })
    // Readable for the instance's own user, whatever the umask of the platform is.
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
    const network = await look()
    for (const row of network.rows) {
      if (written.has(row.pod_name)) await write(row.pod_name, textOf(network.peersOf(network.discoveredBy(row))))
    }
  }

  function changed(): void {
    if (isClosed) return
    timer ??= setTimeout(() => {
      timer = undefined
      inTurn(update).catch((error: unknown) => {
        log.warn({ err: error }, 'the peers files could not be written; it is tried again with the next change')
      })
    }, GATHER_MS)
  }

  /** An earlier platform's files belong to instances that may run on. */
  busy = readdir(directory).then(
    (names) => {
      for (const name of names) written.set(name, '')
      changed()
    },
    () => undefined,
  )
  const unwatch = runtime.watch(changed)

  return {
    changed,
    peersOf: async (deployments) => (await look()).peersOf(deployments),
    async prepare(podName, deployments) {
      await inTurn(async () => write(podName, textOf((await look()).peersOf(deployments))))
      return join(directory, podName)
    },
    forget: (podName) =>
      inTurn(async () => {
        written.delete(podName)
        await rm(join(directory, podName), { recursive: true, force: true })
      }),
    async close() {
      isClosed = true
      unwatch()
      clearTimeout(timer)
      await busy
    },
  }
}
