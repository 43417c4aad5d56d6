import { basename } from 'node:path'
import type { Logger } from 'pino'
import { AppError } from '../../errors'
import { dataDirectoryFailure, fileFailure } from '../fileFailure'
import { createSkippedEntries } from '../skippedEntries'
import type { ReplicateOptions } from './replicate'
import { createTreeWatch } from './treeWatch'

/** Debounce: changes that are closer together than this become one sync. */
const DEBOUNCE_MS = 300
/** Upper bound of the debounce, for directories that never become quiet, such as one with a busy log. */
const MAX_DEBOUNCE_MS = 2000
/** Delay before a failed sync is retried. */
const RETRY_MS = 5000

export interface DirectorySyncParts {
  /** An absolute path. */
  directory: string
  /** Updates the replica. @returns the number of changes */
  update: (options: ReplicateOptions) => Promise<number>
  /** Called when `isDirty` or `problem` may have changed. */
  onState: () => void
  log: Logger
}

/** Keeps the replica of one directory up to date. Call `schedule` for the first sync. */
export class DirectorySync {
  /** Whether the directory has changed since the last successful sync. */
  isDirty = false
  /** Why the last sync failed, as text for users. */
  problem: string | undefined
  private readonly treeWatch = createTreeWatch(
    () => this.schedule(),
    (reason) =>
      this.parts.log.warn(
        { directory: this.parts.directory, reason },
        'cannot watch all of a directory; polling the rest once a minute',
      ),
  )
  private timer: NodeJS.Timeout | undefined
  /** `performance.now()` of the first change since the last sync began. */
  private firstChangeAt: number | undefined
  private isSyncing = false
  private isClosed = false
  /** The last error, as logged. */
  private loggedError: string | undefined
  /** Text of the last sync's skipped entries, as logged. */
  private lastSkipped: string | undefined

  constructor(private readonly parts: DirectorySyncParts) {}

  /** Schedules a sync after a change. */
  schedule(): void {
    const now = performance.now()
    this.firstChangeAt ??= now
    const untilUpperBound = Math.max(0, this.firstChangeAt + MAX_DEBOUNCE_MS - now)
    this.syncAfter(Math.min(DEBOUNCE_MS, untilUpperBound))
  }

  /** Checks for unreported changes, unless a sync is scheduled or in progress. */
  poll(): void {
    if (this.timer === undefined && !this.isSyncing) void this.sync()
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
    this.treeWatch.close()
  }

  private syncAfter(delayMs: number): void {
    if (this.isClosed) return
    this.isDirty = true
    this.parts.onState()
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.sync(), delayMs)
  }

  private async sync(): Promise<void> {
    this.timer = undefined
    this.firstChangeAt = undefined
    // One sync per directory: on a slow share they would pile up and delay every start of an instance.
    if (this.isSyncing) return this.schedule()
    this.isSyncing = true
    try {
      await this.update()
    } catch (error) {
      const { directory, log } = this.parts
      const problem = problemOf(directory, error)
      // A directory that goes on changing is tried again every two seconds.
      const level = String(error) === this.loggedError ? 'debug' : 'warn'
      log[level]({ err: error, directory }, 'failed to synchronise a directory; retrying')
      this.problem = problem
      this.loggedError = String(error)
      if (this.timer === undefined) this.syncAfter(RETRY_MS)
      this.parts.onState()
      return
    } finally {
      this.isSyncing = false
    }
    // A change during the sync has set the timer again.
    this.problem = this.loggedError = undefined
    if (this.timer === undefined) this.isDirty = false
    this.parts.onState()
  }

  private async update(): Promise<void> {
    const { directory, log } = this.parts
    const skipped = createSkippedEntries()
    const changes = await this.parts.update({ skipped, onDirectory: this.treeWatch.visit })
    this.treeWatch.removeUnvisited()
    const text = skipped.summary()
    if (text !== undefined && text !== this.lastSkipped)
      log.warn({ directory, leftOut: text }, 'some entries of a directory are not copied')
    this.lastSkipped = text
    log.debug({ directory, changes }, 'a directory was synchronised')
  }
}

/** Text for users, without paths of this machine. */
function problemOf(directory: string, error: unknown): string {
  // The sync reads the shared area and writes to this machine's disk.
  const failure = dataDirectoryFailure(error) ?? fileFailure(error, `"${basename(directory)}"`)
  return `"${basename(directory)}" could not be copied yet. This is retried. ${failure instanceof AppError ? failure.message : ''}`.trim()
}
