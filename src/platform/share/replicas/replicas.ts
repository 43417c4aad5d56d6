import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { readdir, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Logger } from 'pino'
import { createKeyedQueue } from '../../concurrency/keyedQueue'
import { dataDiskFull, fileFailure } from '../fileFailure'
import { removePath } from '../changes/removal'
import { createSkippedEntries, type SkippedEntries } from '../skippedEntries'
import { replicate } from './replicate'
import { createTreeWatch, type TreeWatch } from './treeWatch'

/** Debounce: changes that are closer together than this become one sync. */
const DEBOUNCE_MS = 300
/** Upper bound of the debounce, for directories that never become quiet, such as one with a busy log. */
const MAX_DEBOUNCE_MS = 2000
/** Delay before a failed sync is retried. */
const RETRY_MS = 5000
/** Polling interval, because not every network file system reports changes made on another machine. */
const POLL_INTERVAL_MS = 60_000

/** Progress of the syncs. `problem` is the reason, as text for users, why a running sync could not finish yet. */
export interface SyncState {
  event: 'sync_started' | 'sync_completed'
  problem?: string
}

/** Local replicas of directories of the shared area, kept up to date. Instances are copied from them at start. */
export interface Replicas {
  /**
   * Updates the replica and copies it to `target`. Calls for the same directory run one after another.
   * @param skipped collects what is not copied.
   * @throws the signal's reason when it aborts; replica and copy may then be incomplete
   */
  copyTo(directory: string, target: string, signal?: AbortSignal, skipped?: SkippedEntries): Promise<void>
  /** Replaces the set of watched directories (absolute paths). */
  setWatched(directories: string[]): void
  /** Removes unwatched replicas in the background. Only for a caller that watches all directories in use. */
  prune(): void
  /** Whether every watched directory is up to date; the same value as the last event. */
  readonly state: SyncState
  /** @returns a function that unsubscribes. */
  onSync(listener: (state: SyncState) => void): () => void
  close(): Promise<void>
}

interface WatchedDirectory {
  treeWatch: TreeWatch
  timer: NodeJS.Timeout | undefined
  isDirty: boolean
  /** `performance.now()` of the first change since the last sync began. */
  firstChangeAt: number | undefined
  isSyncing: boolean
  /** Reason why the last sync failed. */
  problem: string | undefined
  /** Text of the last sync's skipped entries, as logged. */
  lastSkipped: string | undefined
}

/**
 * @param dataDir holds the replicas, in `replica`.
 * @param checkShare throws while the shared area is not mounted: the replicas then stay unchanged.
 */
export function createReplicas(
  dataDir: string,
  log: Logger,
  checkShare: () => Promise<unknown> = async () => undefined,
): Replicas {
  const events = new EventEmitter()
  const watched = new Map<string, WatchedDirectory>()
  const queue = createKeyedQueue()
  let lastState: SyncState = { event: 'sync_completed' }
  /** False at first: an earlier platform process may have left replicas that are not needed any more. */
  let isPruned = false

  const root = join(dataDir, 'replica')
  const replicaOf = (directory: string) => join(root, createHash('sha256').update(directory).digest('hex').slice(0, 32))

  async function updateReplica(directory: string, options: Parameters<typeof replicate>[2]): Promise<number> {
    await checkShare()
    return replicate(directory, replicaOf(directory), options)
  }

  /** Waits for copies in progress, and removes only what is not watched by then. */
  async function removeUnwatched(): Promise<void> {
    const isWatched = (replica: string) => [...watched.keys()].some((directory) => replicaOf(directory) === replica)
    for (const name of await readdir(root)) {
      const replica = join(root, name)
      await queue(replica, async () => {
        if (isWatched(replica)) return
        await removePath(replica)
        log.info({ replica: name }, 'a replica that nobody needs any more was removed')
      })
    }
  }

  function emitState(): void {
    const isSynced = [...watched.values()].every(({ isDirty }) => !isDirty)
    const problem = [...watched.values()].find((entry) => entry.problem !== undefined)?.problem
    const state: SyncState = isSynced
      ? { event: 'sync_completed' }
      : { event: 'sync_started', ...(problem !== undefined && { problem }) }
    if (state.event === lastState.event && state.problem === lastState.problem) return
    lastState = state
    events.emit('sync', state)
  }

  function scheduleSync(directory: string, wait = DEBOUNCE_MS): void {
    const entry = watched.get(directory)
    if (!entry) return
    entry.isDirty = true
    emitState()
    clearTimeout(entry.timer)
    entry.firstChangeAt ??= performance.now()
    const maxDelay = Math.max(0, entry.firstChangeAt + MAX_DEBOUNCE_MS - performance.now())
    entry.timer = setTimeout(() => void sync(directory, entry), wait === DEBOUNCE_MS ? Math.min(wait, maxDelay) : wait)
  }

  async function sync(directory: string, entry: WatchedDirectory): Promise<void> {
    entry.timer = undefined
    // One sync per directory: on a slow share they would pile up and delay every start of an instance.
    if (entry.isSyncing) {
      entry.firstChangeAt = undefined
      scheduleSync(directory)
      return
    }
    entry.firstChangeAt = undefined
    entry.isSyncing = true
    try {
      const skipped = createSkippedEntries()
      const changes = await queue(replicaOf(directory), () =>
        updateReplica(directory, { skipped, onDirectory: entry.treeWatch.visit }),
      )
      entry.treeWatch.removeUnvisited()
      const text = skipped.summary()
      if (text !== undefined && text !== entry.lastSkipped)
        log.warn({ directory, leftOut: text }, 'some of a directory is not copied')
      entry.lastSkipped = text
      log.debug({ directory, changes }, 'a directory was synchronised')
    } catch (error) {
      log.warn({ err: error, directory }, 'a directory could not be synchronised; it is tried again')
      entry.problem = problemOf(directory, error)
      if (watched.get(directory) === entry && entry.timer === undefined) scheduleSync(directory, RETRY_MS)
      emitState()
      return
    } finally {
      entry.isSyncing = false
    }
    // A change during the sync has set the timer again.
    entry.problem = undefined
    if (entry.timer === undefined) entry.isDirty = false
    emitState()
  }

  const pollTimer = setInterval(() => {
    for (const [directory, entry] of watched)
      if (entry.timer === undefined && !entry.isSyncing) void sync(directory, entry)
  }, POLL_INTERVAL_MS)

  function unwatch(directory: string, { treeWatch, timer }: WatchedDirectory): void {
    clearTimeout(timer)
    watched.delete(directory)
    isPruned = false
    treeWatch.close()
  }

  return {
    async copyTo(directory, target, signal, skipped) {
      await queue(replicaOf(directory), async () => {
        await updateReplica(directory, { signal, skipped })
        await replicate(await realpath(replicaOf(directory)), target, { signal })
      })
    },
    setWatched(directories) {
      for (const [directory, entry] of watched) if (!directories.includes(directory)) unwatch(directory, entry)
      for (const directory of directories) {
        if (watched.has(directory)) continue
        const treeWatch = createTreeWatch(
          () => scheduleSync(directory),
          (reason) =>
            log.warn(
              { directory, reason },
              'not all of a directory can be watched; changes in the rest are looked for once a minute',
            ),
        )
        watched.set(directory, {
          treeWatch,
          timer: undefined,
          isDirty: false,
          firstChangeAt: undefined,
          isSyncing: false,
          problem: undefined,
          lastSkipped: undefined,
        })
        scheduleSync(directory)
      }
      emitState()
    },
    prune() {
      if (isPruned) return
      isPruned = true
      removeUnwatched().catch((error: unknown) => {
        isPruned = false
        log.warn({ err: error }, 'unneeded replicas could not be removed; it is tried again')
      })
    },
    get state() {
      return lastState
    },
    onSync(listener) {
      events.on('sync', listener)
      return () => events.off('sync', listener)
    },
    async close() {
      clearInterval(pollTimer)
      for (const [directory, entry] of watched) unwatch(directory, entry)
    },
  }
}

/** Text for users, without paths of this machine. */
function problemOf(directory: string, error: unknown): string {
  // Read is the shared area, written is this machine's disk.
  const failure = dataDiskFull(error) ?? fileFailure(error, `"${basename(directory)}"`)
  return `"${basename(directory)}" could not be copied yet, it is tried again. ${failure instanceof Error && failure !== error ? failure.message : ''}`.trim()
}
