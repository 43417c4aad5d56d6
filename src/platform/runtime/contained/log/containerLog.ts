import { readFile, type FileHandle } from 'node:fs/promises'
import { createTokenBucket } from '../../../concurrency/tokenBucket'
import { consoleText } from '../../consoleText'
import { MAX_STORED_LINES } from '../../lineRing'
import { eachRow } from '../../logRows'
import { printedTexts } from '../../readyLine'
import type { ConsoleLine } from '../../runtime'
import { formatRow, LineJoiner, readRow } from './criLog'
import { inodeOf, LogFiles, type LogFile } from './logFiles'
import { readTail } from './logTail'

/** Size in bytes at which a log is rotated. It and its predecessor together always cover what a console stores. */
const ROTATE_BYTES = 8 * 2 ** 20
const SMALL_CHUNK = 64 * 1024
const LARGE_CHUNK = 2 ** 20
/** Maximum bytes per read, so that a program that prints faster than the platform reads cannot starve other work. */
const READ_BUDGET_BYTES = ROTATE_BYTES
/** More than enough reads for two full logs. */
const MAX_READS = 20
/** Rate limit for decoding a console, in bytes and bytes per millisecond. The rest is counted but skipped. */
const DECODE_BURST = 64 * 2 ** 20
const DECODE_RATE = 8 * 2 ** 10
/** Delay after a rotation that failed. */
const ROTATE_AGAIN_MS = 1000
/** Added to the numbering when the number of lost lines is unknown, so that no number is used twice. */
const UNKNOWN_GAP = 10_000_000

/**
 * The console log of one instance. conmon appends the program's output, the platform appends its own lines in the same
 * format. A line's number is its position, so nothing is written twice, and a restarted platform continues where the
 * file continues.
 */
export class ContainerLog {
  private readonly files: LogFiles
  private current: LogFile = { ino: 0, before: 0 }
  private previous: LogFile | undefined
  private handle: FileHandle | undefined
  /** Read position in the current file; `last` counts the lines before it. */
  private offset = 0
  private last = 0
  private joiner = new LineJoiner()
  private follower: ((lines: ConsoleLine[]) => void) | undefined
  private lineWatch: ((texts: string[]) => void) | undefined
  private queue: Promise<unknown> = Promise.resolve()
  private readonly decodeBudget = createTokenBucket(DECODE_BURST, DECODE_RATE)
  /** Time of the next rotation at the earliest, on the clock of `performance.now()`. */
  private rotateAt = 0
  private isReading = false
  private isClosed = false

  /** @param file path of the log. @param reopen see `LogFiles` */
  constructor(file: string, reopen: () => Promise<boolean>) {
    this.files = new LogFiles(file, reopen)
  }

  /** Number of the newest line that was read; 0 when there is none. */
  get lastSeq(): number {
    return this.last
  }

  /** Reads appended rows. Calls during a read share one further read. */
  poll(): void {
    if (this.isReading) return
    this.isReading = true
    void this.enqueue(async () => {
      this.isReading = false
      const isDone = await this.readAppended()
      if (!isDone && !this.isClosed) this.poll()
    }).catch(() => undefined)
  }

  /** Resolves when the current content of the file has been read. */
  async settle(): Promise<void> {
    for (let reads = 0; reads < MAX_READS; reads += 1) if (await this.enqueue(() => this.readAppended())) return
  }

  /** Appends a line of the platform. Errors such as a full disk are ignored: the line is lost. */
  async note(text: string): Promise<void> {
    await this.append([formatRow(Date.now(), 'system', consoleText(text))])
  }

  /** Terminates incomplete lines after the end of the program. */
  async finishLines(): Promise<void> {
    await this.settle()
    await this.append(this.joiner.unfinished.map((stream) => formatRow(Date.now(), stream, '')))
  }

  history(limit: number): Promise<ConsoleLine[]> {
    return this.enqueue(async () => {
      await this.readAppended()
      return this.tail(Math.min(limit, MAX_STORED_LINES))
    })
  }

  /** Calls back with the stored lines from a number on, then with new ones. A new follower replaces the old one. */
  follow(since: number, follower: (lines: ConsoleLine[]) => void): Promise<() => void> {
    return this.enqueue(async () => {
      await this.readAppended()
      const kept = await this.tail(Math.min(this.last - since + 1, MAX_STORED_LINES))
      this.follower = follower
      if (kept.length > 0) follower(kept)
      return () => {
        if (this.follower === follower) this.follower = undefined
      }
    })
  }

  /**
   * Calls back with the lines that the program prints after line number `after`, as they are read. `undefined` ends it,
   * and never fails.
   */
  async watchLines(after: number, watch: ((texts: string[]) => void) | undefined): Promise<void> {
    await this.enqueue(async () => {
      if (watch) {
        await this.readAppended()
        const stored = await this.tail(Math.min(this.last - after, MAX_STORED_LINES))
        watch(printedTexts(stored.filter(({ seq }) => seq > after)))
      }
      this.lineWatch = watch
    })
  }

  /** Closes the log for good, so that later calls open no file; it stays on disk. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.release()
  }

  private async release(): Promise<void> {
    this.follower = undefined
    this.lineWatch = undefined
    await this.enqueue(async () => {
      await this.handle?.close()
      this.handle = undefined
      this.current.ino = 0
    }).catch(() => undefined)
  }

  async remove(): Promise<void> {
    await this.release()
    await this.files.remove()
    this.current = { ino: 0, before: 0 }
    this.previous = undefined
    this.last = 0
    this.offset = 0
  }

  private enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.queue.then(work)
    this.queue = result.catch(() => undefined)
    return result
  }

  private async append(rows: string[]): Promise<void> {
    if (rows.length === 0) return
    await this.enqueue(async () => {
      await this.files.append(rows.join('')).catch(() => undefined)
      // What cannot be read now is read by a later call.
      await this.readAppended().catch(() => undefined)
    })
  }

  /**
   * Reads to the end of the newest file, or until the budget is used up, and rotates a file that is large enough.
   * @param budget bytes that this call may still read.
   * @returns whether the end was reached.
   */
  private async readAppended(budget = READ_BUDGET_BYTES): Promise<boolean> {
    if (this.isClosed || (!this.handle && !(await this.openFile()))) return true
    let chunk = SMALL_CHUNK
    let isBudgetUsed = false
    let isDrained = false
    while (true) {
      const bytes = await this.readChunk(chunk)
      budget -= bytes
      isBudgetUsed = bytes > 0 && budget <= 0
      if (bytes > 0 && !isBudgetUsed) {
        isDrained = false
        // Chunks rarely end at the end of a row.
        if (bytes > chunk / 2) chunk = LARGE_CHUNK
        continue
      }
      const there = await inodeOf(this.files.current)
      if (there === undefined || there === this.current.ino) break
      // The next call reads the rest of a rotated file.
      if (isBudgetUsed) return false
      // Rotated: the old file does not grow any more. One more read gets its last rows.
      if (isDrained) await this.openFile()
      else isDrained = true
    }
    if (this.offset >= ROTATE_BYTES && performance.now() >= this.rotateAt) {
      if (await this.files.rotate()) return this.readAppended(budget)
      this.rotateAt = performance.now() + ROTATE_AGAIN_MS
    }
    return !isBudgetUsed
  }

  /** @returns the number of bytes read; 0 at the end of the file. */
  private async readChunk(size: number): Promise<number> {
    const buffer = Buffer.allocUnsafe(size)
    const { bytesRead } = (await this.handle?.read(buffer, 0, size, this.offset)) ?? { bytesRead: 0 }
    if (bytesRead === 0) return 0
    const isWatched = this.follower !== undefined || this.lineWatch !== undefined
    const isDecoded = isWatched && this.decodeBudget.left() >= bytesRead
    if (isDecoded) this.decodeBudget.spend(bytesRead)
    const lines: ConsoleLine[] = []
    const rowsEnd = eachRow(buffer.subarray(0, bytesRead), (start, end) => {
      const line = this.joiner.add(readRow(buffer, start, end), buffer, end, isDecoded)
      if (!line) return
      this.last += 1
      if (line.text !== undefined) lines.push({ seq: this.last, type: line.type, content: consoleText(line.text) })
    })
    // An incomplete row is read again later. A row that exceeds the largest chunk is skipped.
    const used = rowsEnd === 0 && bytesRead >= LARGE_CHUNK ? bytesRead : rowsEnd
    this.offset += used
    this.lineWatch?.(printedTexts(lines))
    if (lines.length > 0) this.follower?.(lines)
    return used
  }

  /** Opens the file at the log's path; it succeeds the current file, if there is one. */
  private async openFile(): Promise<boolean> {
    const handle = await this.files.open()
    if (!handle) return false
    const { ino } = await handle.stat()
    const isFirst = this.handle === undefined
    await this.handle?.close()
    this.handle = handle
    if (isFirst) {
      await this.loadNumbering(ino)
      this.joiner = new LineJoiner()
    } else {
      // The joiner stays: a rotation may split a line.
      this.previous = this.current.ino === (await inodeOf(this.files.previous)) ? this.current : undefined
      this.current = { ino, before: this.last }
    }
    this.offset = 0
    this.last = this.current.before
    await this.files.writeNumbers({ current: this.current, previous: this.previous })
    await this.files.createSpare()
    return true
  }

  /** Restores the numbering of files that an earlier platform left. */
  private async loadNumbering(ino: number): Promise<void> {
    const known = await this.files.readNumbers()
    const older = await inodeOf(this.files.previous)
    if (!known) {
      this.current = { ino, before: 0 }
    } else if (known.current.ino === ino) {
      this.current = known.current
      this.previous = known.previous?.ino === older ? known.previous : undefined
    } else if (known.current.ino === older) {
      // The platform ended between a rotation and its record.
      this.previous = known.current
      this.current = { ino, before: known.current.before + (await countLines(this.files.previous)) }
    } else {
      this.current = { ino, before: Math.max(known.current.before, this.last) + UNKNOWN_GAP }
    }
  }

  /** Up to `limit` stored lines before the current position. */
  private async tail(limit: number): Promise<ConsoleLine[]> {
    if (!this.handle) return []
    const previous = this.previous && { path: this.files.previous, ino: this.previous.ino }
    return readTail({ handle: this.handle, offset: this.offset, last: this.last, previous }, limit)
  }
}

async function countLines(path: string): Promise<number> {
  let count = 0
  const buffer = await readFile(path)
  eachRow(buffer, (start, end) => {
    if (!readRow(buffer, start, end).isPartial) count += 1
  })
  return count
}
