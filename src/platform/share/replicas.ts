import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { watch, type FSWatcher } from 'chokidar'
import type { Logger } from 'pino'
import { replicate } from './replica'

/** Changes that come closer together than this are one sync. In milliseconds. */
const QUIET_MS = 300
/** A directory that could not be copied is tried again after this. In milliseconds. */
const RETRY_MS = 5000
/** Changes made on another machine are not told by every network file system: so often they are looked for. In milliseconds. */
const RESCAN_MS = 60_000

export type SyncEvent = 'sync_started' | 'sync_completed'

/** This machine's replicas of directories of the shared area, kept up to date, from which instances are copied at start. */
export interface Replicas {
  /**
   * Brings one up to date and copies it to `target`; one after another for the same directory.
   * @throws the signal's reason when it is aborted meanwhile; both are then as far as they came.
   */
  copyTo(directory: string, target: string, signal?: AbortSignal): Promise<void>
  /** Watches these directories (absolute paths), and no others any more. */
  follow(directories: string[]): void
  /** Whether every followed directory is up to date. */
  readonly isSynced: boolean
  /** @returns a function that ends it. */
  onSync(listener: (event: SyncEvent) => void): () => void
  close(): Promise<void>
}

interface Followed {
  watcher: FSWatcher
  timer: NodeJS.Timeout | undefined
  isDirty: boolean
}

export function createReplicas(dataDir: string, log: Logger): Replicas {
  const events = new EventEmitter()
  const followed = new Map<string, Followed>()
  const queues = new Map<string, Promise<unknown>>()
  let synced = true

  const replicaOf = (directory: string) => join(dataDir, 'replica', createHash('sha256').update(directory).digest('hex').slice(0, 32))

  async function oneByOne<Result>(directory: string, work: () => Promise<Result>): Promise<Result> {
    const turn = (queues.get(directory) ?? Promise.resolve()).then(work, work)
    queues.set(directory, turn)
    try {
      return await turn
    } finally {
      if (queues.get(directory) === turn) queues.delete(directory)
    }
  }

  function tell(): void {
    const now = [...followed.values()].every(({ isDirty }) => !isDirty)
    if (now === synced) return
    synced = now
    events.emit('sync', synced ? 'sync_completed' : 'sync_started')
  }

  function changed(directory: string, wait = QUIET_MS): void {
    const entry = followed.get(directory)
    if (!entry) return
    entry.isDirty = true
    tell()
    clearTimeout(entry.timer)
    entry.timer = setTimeout(() => void sync(directory, entry), wait)
  }

  async function sync(directory: string, entry: Followed): Promise<void> {
    entry.timer = undefined
    try {
      const changes = await oneByOne(directory, () => replicate(directory, replicaOf(directory)))
      log.debug({ directory, changes }, 'a directory was synchronised')
    } catch (error) {
      log.warn({ err: error, directory }, 'a directory could not be synchronised; it is tried again')
      if (followed.get(directory) === entry && entry.timer === undefined) changed(directory, RETRY_MS)
      return
    }
    // A change that came meanwhile has set the timer again.
    if (entry.timer === undefined) entry.isDirty = false
    tell()
  }

  const rescan = setInterval(() => {
    for (const [directory, entry] of followed) if (entry.timer === undefined) void sync(directory, entry)
  }, RESCAN_MS)

  function unfollow(directory: string, { watcher, timer }: Followed): Promise<void> {
    clearTimeout(timer)
    followed.delete(directory)
    return watcher.close()
  }

  return {
    async copyTo(directory, target, signal) {
      await oneByOne(directory, async () => {
        await replicate(directory, replicaOf(directory), signal)
        await replicate(replicaOf(directory), target, signal)
      })
    },
    follow(directories) {
      for (const [directory, entry] of followed) if (!directories.includes(directory)) void unfollow(directory, entry)
      for (const directory of directories) {
        if (followed.has(directory)) continue
        const watcher = watch(directory, { ignoreInitial: true, followSymlinks: false })
        watcher.on('all', () => changed(directory))
        watcher.on('error', (error) => log.warn({ err: error, directory }, 'a directory cannot be watched; changes are looked for once a minute'))
        followed.set(directory, { watcher, timer: undefined, isDirty: false })
        changed(directory)
      }
      tell()
    },
    get isSynced() {
      return synced
    },
    onSync(listener) {
      events.on('sync', listener)
      return () => events.off('sync', listener)
    },
    async close() {
      clearInterval(rescan)
      await Promise.all([...followed].map(([directory, entry]) => unfollow(directory, entry)))
    },
  }
}
