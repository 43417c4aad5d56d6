import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { readdir, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Logger } from 'pino'
import { createKeyedQueue } from './keyedQueue'
import { fileFailure } from './fileFailure'
import { removePath } from './removal'
import { createLeftOut, type LeftOut } from './leftOut'
import { replicate } from './replica'
import { createTreeWatch, type TreeWatch } from './treeWatch'

/** Changes that come closer together than this are one sync. In milliseconds. */
const QUIET_MS = 300
/** Where it never becomes quiet (a log that is written all the time), a sync begins so long after the first change all the same. In milliseconds. */
const LONGEST_WAIT_MS = 2000
/** A directory that could not be copied is tried again after this. In milliseconds. */
const RETRY_MS = 5000
/** Changes made on another machine are not told by every network file system: so often they are looked for. In milliseconds. */
const RESCAN_MS = 60_000

/** What is told of syncs; with the reason, for people, when the one that goes on could not be finished yet. */
export interface SyncNews {
  event: 'sync_started' | 'sync_completed'
  problem?: string
}

/** This machine's replicas of directories of the shared area, kept up to date, from which instances are copied at start. */
export interface Replicas {
  /**
   * Brings one up to date and copies it to `target`; one after another for the same directory.
   * @param leftOut is told of what is not copied.
   * @throws the signal's reason when it is aborted meanwhile; both are then as far as they came.
   */
  copyTo(directory: string, target: string, signal?: AbortSignal, leftOut?: LeftOut): Promise<void>
  /** Watches these directories (absolute paths), and no others any more. */
  follow(directories: string[]): void
  /** Removes from this machine's disk what no followed directory needs any more, in its own time. For who follows all there are. */
  prune(): void
  /** Whether every followed directory is up to date, as the last news would say it. */
  readonly state: SyncNews
  /** @returns a function that ends it. */
  onSync(listener: (news: SyncNews) => void): () => void
  close(): Promise<void>
}

interface Followed {
  watch: TreeWatch
  timer: NodeJS.Timeout | undefined
  isDirty: boolean
  /** When the change came that the timer waits for, as `performance.now()` tells. */
  since: number | undefined
  isSyncing: boolean
  /** Why it is still not up to date. */
  problem: string | undefined
  /** What the last sync left out, as it was logged. */
  leftOut: string | undefined
}

/**
 * @param dataDir where the copies lie, in `replica`.
 * @param checkShare throws while the shared area is not mounted: then what is known of it stays as it is.
 */
export function createReplicas(
  dataDir: string,
  log: Logger,
  checkShare: () => Promise<unknown> = async () => undefined,
): Replicas {
  const events = new EventEmitter()
  const followed = new Map<string, Followed>()
  const oneByOne = createKeyedQueue()
  let told: SyncNews = { event: 'sync_completed' }
  /** At the start nobody knows what an earlier platform has left. */
  let isPruned = false

  const root = join(dataDir, 'replica')
  const replicaOf = (directory: string) => join(root, createHash('sha256').update(directory).digest('hex').slice(0, 32))

  async function bringUpToDate(directory: string, options: Parameters<typeof replicate>[2]): Promise<number> {
    await checkShare()
    return replicate(directory, replicaOf(directory), options)
  }

  /** What is being copied from is removed after that, and only if nobody follows it by then. */
  async function removeUnneeded(): Promise<void> {
    const isNeeded = (replica: string) => [...followed.keys()].some((directory) => replicaOf(directory) === replica)
    for (const name of await readdir(root)) {
      const replica = join(root, name)
      await oneByOne(replica, async () => {
        if (isNeeded(replica)) return
        await removePath(replica)
        log.info({ replica: name }, 'a replica that nobody needs any more was removed')
      })
    }
  }

  function tell(): void {
    const isSynced = [...followed.values()].every(({ isDirty }) => !isDirty)
    const problem = [...followed.values()].find((entry) => entry.problem !== undefined)?.problem
    const now: SyncNews = isSynced
      ? { event: 'sync_completed' }
      : { event: 'sync_started', ...(problem !== undefined && { problem }) }
    if (now.event === told.event && now.problem === told.problem) return
    told = now
    events.emit('sync', now)
  }

  function changed(directory: string, wait = QUIET_MS): void {
    const entry = followed.get(directory)
    if (!entry) return
    entry.isDirty = true
    tell()
    clearTimeout(entry.timer)
    entry.since ??= performance.now()
    const longest = Math.max(0, entry.since + LONGEST_WAIT_MS - performance.now())
    entry.timer = setTimeout(() => void sync(directory, entry), wait === QUIET_MS ? Math.min(wait, longest) : wait)
  }

  async function sync(directory: string, entry: Followed): Promise<void> {
    entry.timer = undefined
    // One at a time: a slow share would gather them, and who starts an instance would wait for all.
    if (entry.isSyncing) {
      entry.since = undefined
      changed(directory)
      return
    }
    entry.since = undefined
    entry.isSyncing = true
    try {
      const leftOut = createLeftOut()
      const changes = await oneByOne(replicaOf(directory), () =>
        bringUpToDate(directory, { leftOut, onDirectory: entry.watch.visit }),
      )
      entry.watch.endWalk()
      const text = leftOut.text()
      if (text !== undefined && text !== entry.leftOut)
        log.warn({ directory, leftOut: text }, 'some of a directory is not copied')
      entry.leftOut = text
      log.debug({ directory, changes }, 'a directory was synchronised')
    } catch (error) {
      log.warn({ err: error, directory }, 'a directory could not be synchronised; it is tried again')
      entry.problem = problemOf(directory, error)
      if (followed.get(directory) === entry && entry.timer === undefined) changed(directory, RETRY_MS)
      tell()
      return
    } finally {
      entry.isSyncing = false
    }
    // A change that came meanwhile has set the timer again.
    entry.problem = undefined
    if (entry.timer === undefined) entry.isDirty = false
    tell()
  }

  const rescan = setInterval(() => {
    for (const [directory, entry] of followed)
      if (entry.timer === undefined && !entry.isSyncing) void sync(directory, entry)
  }, RESCAN_MS)

  function unfollow(directory: string, { watch, timer }: Followed): void {
    clearTimeout(timer)
    followed.delete(directory)
    isPruned = false
    watch.close()
  }

  return {
    async copyTo(directory, target, signal, leftOut) {
      await oneByOne(replicaOf(directory), async () => {
        await bringUpToDate(directory, { signal, leftOut })
        await replicate(await realpath(replicaOf(directory)), target, { signal })
      })
    },
    follow(directories) {
      for (const [directory, entry] of followed) if (!directories.includes(directory)) unfollow(directory, entry)
      for (const directory of directories) {
        if (followed.has(directory)) continue
        const watch = createTreeWatch(
          () => changed(directory),
          (reason) =>
            log.warn(
              { directory, reason },
              'not all of a directory can be watched; changes in the rest are looked for once a minute',
            ),
        )
        followed.set(directory, {
          watch,
          timer: undefined,
          isDirty: false,
          since: undefined,
          isSyncing: false,
          problem: undefined,
          leftOut: undefined,
        })
        changed(directory)
      }
      tell()
    },
    prune() {
      if (isPruned) return
      isPruned = true
      removeUnneeded().catch((error: unknown) => {
        isPruned = false
        log.warn({ err: error }, 'unneeded replicas could not be removed; it is tried again')
      })
    },
    get state() {
      return told
    },
    onSync(listener) {
      events.on('sync', listener)
      return () => events.off('sync', listener)
    },
    async close() {
      clearInterval(rescan)
      for (const [directory, entry] of followed) unfollow(directory, entry)
    },
  }
}

/** For people, without a path of this machine. */
function problemOf(directory: string, error: unknown): string {
  const failure = fileFailure(error, `"${basename(directory)}"`)
  return `"${basename(directory)}" could not be copied yet, it is tried again. ${failure instanceof Error && failure !== error ? failure.message : ''}`.trim()
}
