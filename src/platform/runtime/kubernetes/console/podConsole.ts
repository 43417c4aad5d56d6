import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createSharedRead } from '../../../concurrency/sharedRead'
import type { ConsoleHead } from '../../../consoleHead'
import { consoleText } from '../../consoleText'
import { MAX_STORED_BYTES, MAX_STORED_LINES, newestStored } from '../../lineRing'
import type { ConsoleLine } from '../../runtime'
import { createBackoff } from '../backoff'
import { ClusterRefusal } from '../clusterClient'
import { ConsoleListeners } from './consoleListeners'
import type { ConsoleStore } from './consoleStore'
import { createNewRowsReader } from './newRows'
import type { LogOptions, LogRow } from './podLog'
import { isAt, positionOf, type PlacedRow, type StoredPosition } from './storedRows'

/** Batches between two deletions of old lines. */
const TRIM_AFTER = 20
const RENEW_LEASE_MS = 1500
/** Delay before the next read after an error, or while another platform reads the log. */
const RETRY_MS = 500
/** Maximum mean delay until a log that cannot be read is requested again. */
const MAX_BACKOFF_MS = 5000
/** Time to read the rest of a log after its run has ended. */
const CATCH_UP_MS = 8000

const LOST = '[System] Output is missing here: the node no longer keeps it.'
const GONE = '[System] Output may be missing here: the Pod is gone, and its log with it.'

type Texts = Omit<ConsoleLine, 'seq'>[]

/** The run whose log a console reads. */
export interface ConsoleRun {
  runId: string
  /** Whether its program has started, so that it has a log. */
  hasLog: boolean
  hasEnded: boolean
  /** Whether it had a log that is gone with its Pod. */
  isLogGone: boolean
  /** Lines of the platform that follow the output of a run that has ended. */
  closingLines: string[]
}

export interface PodConsoleParts {
  podName: string
  store: ConsoleStore
  /** Identifies this platform. */
  reader: string
  /** The present run; undefined if there is none. */
  run: () => ConsoleRun | undefined
  readLog: (options: LogOptions) => AsyncIterable<LogRow[]>
  log: Pick<Logger, 'warn'>
}

/**
 * The console of one instance. The output of its runs is read from the cluster and stored, with the platform's own
 * lines in between. While a viewer watches, one platform reads the output and all of them read the store. Otherwise the
 * output is read on request and when a run ends.
 */
export class PodConsole {
  private readonly listeners: ConsoleListeners
  private queue: Promise<unknown> = Promise.resolve()
  private reading: AbortController | undefined
  private loop: Promise<void> | undefined
  private wakeUp: () => void = () => undefined
  private appends = 0
  private isClosed = false
  private settled: Promise<void> = Promise.resolve()
  /** Resolved when the log that is being followed has been read to its end. */
  private turn: { promise: Promise<void>; resolve: () => void } | undefined

  private readonly readNewRows

  constructor(private readonly parts: PodConsoleParts) {
    this.listeners = new ConsoleListeners(parts.podName, parts.store)
    this.readNewRows = createNewRowsReader(parts.readLog)
  }

  get isWatched(): boolean {
    return !this.listeners.isEmpty
  }

  /** Appends a line of the platform. */
  async note(text: string): Promise<void> {
    await this.settle()
    await this.enqueue(() => this.append(() => [{ type: 'system', content: consoleText(text) }]))
  }

  async history(limit: number): Promise<ConsoleLine[]> {
    if (limit <= 0) return []
    await this.settle()
    const { store, podName } = this.parts
    const { last } = await store.head(podName)
    return newestStored(await store.lines(podName, last - Math.min(limit, MAX_STORED_LINES) + 1))
  }

  /** Calls back with the stored lines from a number on, then with new ones. A new follower replaces the old one. */
  async follow(since: number, follower: (lines: ConsoleLine[]) => void): Promise<() => void> {
    await this.settle()
    await this.enqueue(() => this.listeners.follow(since, follower))
    this.start()
    return () => {
      this.listeners.unfollow(follower)
      this.stopUnwatched()
    }
  }

  /** Calls back with the lines that the present run prints, as they are read. `undefined` ends it. */
  async watchLines(watch: ((texts: string[]) => void) | undefined): Promise<void> {
    if (watch === undefined) {
      this.listeners.endWatch()
      return this.stopUnwatched()
    }
    await this.enqueue(() => this.listeners.watch(watch, () => this.parts.run()?.runId))
    this.start()
  }

  /** To be called when the run has changed: continues to read at once. */
  wake(): void {
    this.wakeUp()
  }

  /** Delivers lines that another platform has stored. @param newest the number of the newest one */
  deliverTo(newest: number): void {
    if (!this.listeners.lack(newest)) return
    this.enqueue(() => this.listeners.deliverStored()).catch(() => undefined)
  }

  /**
   * Stores the missing output of a run that has ended or has no viewers. After a failure, the next call tries again.
   * Callers share a turn that begins after their call, because a turn may take seconds.
   */
  readonly settle = createSharedRead(() => (this.settled = this.storeMissing()))

  private async storeMissing(): Promise<void> {
    const run = this.parts.run()
    if (!run) return
    const head = await this.parts.store.head(this.parts.podName)
    if (head.completeRun === run.runId) return
    if (run.hasEnded) {
      // A reader that follows the log stores its rest first.
      await Promise.race([this.reading ? this.loopTurn() : undefined, delay(CATCH_UP_MS, undefined, { ref: false })])
    }
    if (this.reading) return
    try {
      const signal = AbortSignal.timeout(CATCH_UP_MS)
      const isRead = await this.readRun(run, false, signal)
      // The next turn reads the rest of a log that is too long for one turn.
      if (run.hasEnded && !signal.aborted) await this.complete(run, isRead)
    } catch (error) {
      this.warn(error)
    }
  }

  async close(): Promise<void> {
    this.listeners.clear()
    this.stopUnwatched()
    await this.loop
    await this.settled.catch(() => undefined)
    this.isClosed = true
    await this.queue
  }

  /** Resolves when the log that is being followed has been read to its end. */
  private loopTurn(): Promise<void> {
    if (!this.turn) {
      let resolve = () => undefined as void
      const promise = new Promise<void>((done) => (resolve = done))
      this.turn = { promise, resolve }
    }
    return this.turn.promise
  }

  private endTurn(): void {
    this.turn?.resolve()
    this.turn = undefined
  }

  private start(): void {
    this.loop ??= this.readWhileWatched().finally(() => {
      this.loop = undefined
      this.endTurn()
      if (this.isWatched) this.start()
    })
  }

  private stopUnwatched(): void {
    if (this.isWatched) return
    this.reading?.abort()
    this.wakeUp()
  }

  private async readWhileWatched(): Promise<void> {
    const { podName, store, reader } = this.parts
    const backoff = createBackoff(RETRY_MS, MAX_BACKOFF_MS)
    let isLeased = false
    while (this.isWatched) {
      let pauseMs = RETRY_MS
      try {
        const run = this.parts.run()
        const head = await store.head(podName)
        if (run?.hasLog && head.completeRun !== run.runId) {
          isLeased = await store.lease(podName, reader)
          // The viewers may have left in the meantime.
          if (isLeased && this.isWatched) await this.followRun(run)
        }
        await this.enqueue(() => this.listeners.deliverStored())
        backoff.reset()
      } catch (error) {
        this.warn(error)
        pauseMs = backoff.next()
      }
      this.endTurn()
      if (this.isWatched) await this.pause(pauseMs)
    }
    if (isLeased) await store.release(podName, reader).catch(() => undefined)
  }

  private async followRun(run: ConsoleRun): Promise<void> {
    const { podName, store, reader } = this.parts
    const reading = new AbortController()
    this.reading = reading
    const renewal = setInterval(() => {
      store.lease(podName, reader).then(
        (isLeased) => isLeased || reading.abort(),
        () => undefined,
      )
    }, RENEW_LEASE_MS)
    try {
      const isRead = await this.readRun(run, true, reading.signal)
      const present = this.parts.run()
      if (present?.runId === run.runId && present.hasEnded && !reading.signal.aborted)
        await this.complete(present, isRead)
    } finally {
      clearInterval(renewal)
      this.reading = undefined
    }
  }

  /** Waits until the run changes, or for a while. */
  private async pause(ms: number): Promise<void> {
    const waiting = new AbortController()
    this.wakeUp = () => waiting.abort()
    await delay(ms, undefined, { signal: waiting.signal }).catch(() => undefined)
  }

  /** Stores the output of a run that follows the stored one. @returns whether the log was read to its end */
  private async readRun(run: ConsoleRun, follow: boolean, signal: AbortSignal): Promise<boolean> {
    if (!run.hasLog) return false
    const from = positionOf(await this.parts.store.head(this.parts.podName), run.runId)
    let expected = from
    const storeRows = async (rows: PlacedRow[], isAfterGap: boolean) =>
      void (expected = await this.storeRows(run, rows, expected, isAfterGap))
    try {
      await this.readNewRows({ stored: from, follow, signal, storeRows })
      return !signal.aborted
    } catch (error) {
      // The container's log does not exist yet, or no longer does.
      const isMissing = error instanceof ClusterRefusal && [400, 404].includes(error.status)
      if (!signal.aborted && !isMissing) throw error
      return false
    }
  }

  /**
   * Stores rows that follow a position.
   * @param expected the position up to which the store should hold this run; undefined: nothing of it
   * @returns the position up to which it holds the run now
   */
  private async storeRows(
    run: ConsoleRun,
    rows: PlacedRow[],
    expected: StoredPosition | undefined,
    isAfterGap: boolean,
  ): Promise<StoredPosition | undefined> {
    let position = expected
    await this.enqueue(() =>
      this.append((head) => {
        const stored = positionOf(head, run.runId)
        // Another platform has stored some of these rows, or all.
        const isShared = stored?.readTo !== expected?.readTo || stored?.readCount !== expected?.readCount
        const known = isShared && stored ? rows.findIndex((row) => isAt(row, stored)) : undefined
        // All of these rows are stored, and later ones too.
        if (known === -1) return []
        position = stored
        const fresh = rows.slice(known === undefined ? 0 : known + 1)
        const newest = fresh.at(-1)
        if (newest === undefined) return []
        if (head.runId !== run.runId) head.runFirst = head.last + 1
        position = { readTo: newest.time, readCount: newest.place }
        Object.assign(head, position, { runId: run.runId })
        const lines: Texts = fresh.map(({ text }) => ({ type: 'message', content: consoleText(text) }))
        return isAfterGap ? [{ type: 'system', content: LOST }, ...lines] : lines
      }),
    )
    return position
  }

  /** @param isRead whether the log was read to its end */
  private async complete(run: ConsoleRun, isRead: boolean): Promise<void> {
    await this.enqueue(() =>
      this.append((head) => {
        if (head.completeRun === run.runId) return []
        head.completeRun = run.runId
        const lines: Texts = run.closingLines.map((text) => ({
          type: 'system',
          content: consoleText(`[System] ${text}`),
        }))
        return run.isLogGone && !isRead ? [{ type: 'system', content: GONE }, ...lines] : lines
      }),
    )
  }

  /**
   * Appends lines after the newest one, and delivers them. If another platform has appended lines first, tries again
   * and delivers those lines too.
   * @param linesFor returns the lines to append for a head, and updates that head
   */
  private async append(linesFor: (head: ConsoleHead) => Texts): Promise<void> {
    const { store, podName } = this.parts
    while (!this.isClosed) {
      const head = await store.head(podName)
      const next = { ...head }
      const lines = linesFor(next)
      if (lines.length === 0 && next.completeRun === head.completeRun) return
      if (!(await store.append(podName, next, lines))) continue
      await this.listeners.deliverAppended(head.last, lines)
      this.appends += 1
      if (this.appends % TRIM_AFTER === 0) await store.trim(podName, MAX_STORED_LINES, MAX_STORED_BYTES)
      return
    }
  }

  private enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.queue.then(work)
    this.queue = result.catch(() => undefined)
    return result
  }

  private warn(error: unknown): void {
    const { log, podName } = this.parts
    log.warn({ err: error, podName }, 'failed to read the output of an instance; retrying')
  }
}
