import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createKeyedQueue } from '../../concurrency/keyedQueue'
import { removePath } from '../changes/removal'
import { DirectorySync } from './directorySync'
import { replicate, type ReplicateOptions } from './replicate'

/** Polling interval, because not every network file system reports changes made on another machine. */
const POLL_INTERVAL_MS = 60_000

/** Progress of the syncs. `problem` is the reason, as text for users, why a running sync could not finish yet. */
export interface SyncState {
  event: 'sync_started' | 'sync_completed'
  problem?: string
}

/** Something that syncs files: its state is `sync_completed` while every directory is up to date. */
export interface SyncSource {
  /** The same value as the last event. */
  readonly state: SyncState
  /** @returns a function that unsubscribes. */
  onSync(listener: (state: SyncState) => void): () => void
}

type CopyOptions = Omit<ReplicateOptions, 'onDirectory'>

/** Local replicas of directories of the shared area, kept up to date. Instances are copied from them at start. */
export interface Replicas extends SyncSource {
  /**
   * Updates the replica and copies it to `target`. Calls for the same directory run one after another.
   * @param options `skipped` collects the entries that are not copied, `trustedUntil` is about `target`
   * @throws the signal's reason when it aborts; replica and copy may then be incomplete
   */
  copyTo(directory: string, target: string, options?: CopyOptions): Promise<void>
  /** Replaces the set of watched directories (absolute paths). */
  setWatched(directories: string[]): void
  /** Removes unwatched replicas in the background. Only for a caller that watches all directories in use. */
  prune(): void
  close(): Promise<void>
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
  const watched = new Map<string, DirectorySync>()
  const queue = createKeyedQueue()
  let lastState: SyncState = { event: 'sync_completed' }
  /** False at first: an earlier platform process may have left replicas that are not needed any more. */
  let isPruned = false

  const root = join(dataDir, 'replica')
  const replicaOf = (directory: string) => join(root, createHash('sha256').update(directory).digest('hex').slice(0, 32))

  async function updateReplica(directory: string, options: ReplicateOptions): Promise<number> {
    await checkShare()
    return replicate(directory, replicaOf(directory), options)
  }

  /** Waits for copies in progress, and removes only replicas that are still unwatched then. */
  async function removeUnwatched(): Promise<void> {
    const isWatched = (replica: string) => [...watched.keys()].some((directory) => replicaOf(directory) === replica)
    for (const name of await readdir(root)) {
      const replica = join(root, name)
      await queue(replica, async () => {
        if (isWatched(replica)) return
        await removePath(replica)
        log.info({ replica: name }, 'removed an unused replica')
      })
    }
  }

  function emitState(): void {
    const isSynced = [...watched.values()].every(({ isDirty }) => !isDirty)
    const problem = [...watched.values()].find((sync) => sync.problem !== undefined)?.problem
    const state: SyncState = isSynced
      ? { event: 'sync_completed' }
      : { event: 'sync_started', ...(problem !== undefined && { problem }) }
    if (state.event === lastState.event && state.problem === lastState.problem) return
    lastState = state
    events.emit('sync', state)
  }

  const pollTimer = setInterval(() => {
    for (const directory of watched.values()) directory.poll()
  }, POLL_INTERVAL_MS)

  function watch(directory: string): void {
    const update = (options: ReplicateOptions) => queue(replicaOf(directory), () => updateReplica(directory, options))
    const sync = new DirectorySync({ directory, update, onState: emitState, log })
    watched.set(directory, sync)
    sync.schedule()
  }

  function unwatch(directory: string, sync: DirectorySync): void {
    watched.delete(directory)
    isPruned = false
    sync.close()
  }

  return {
    async copyTo(directory, target, { signal, skipped, trustedUntil } = {}) {
      await queue(replicaOf(directory), async () => {
        await updateReplica(directory, { signal, skipped })
        await replicate(await realpath(replicaOf(directory)), target, { signal, trustedUntil })
      })
    },
    setWatched(directories) {
      for (const [directory, sync] of watched) if (!directories.includes(directory)) unwatch(directory, sync)
      for (const directory of directories) if (!watched.has(directory)) watch(directory)
      emitState()
    },
    prune() {
      if (isPruned) return
      isPruned = true
      removeUnwatched().catch((error: unknown) => {
        isPruned = false
        log.warn({ err: error }, 'failed to remove unused replicas; retrying')
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
      for (const [directory, sync] of watched) unwatch(directory, sync)
    },
  }
}
