import { appendFile, open, readFile, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { errorCodeOf } from '../../errors'
import { consoleText } from '../consoleText'
import { KEPT_BYTES, KEPT_LINES } from '../lineRing'
import type { ConsoleLine } from '../runtime'
import { eachRow, formatRow, LineJoiner } from './criLog'

/** A log of this size is rotated; together with its predecessor it always holds what a console keeps. In bytes. */
const ROTATE_BYTES = 8 * 2 ** 20
/** How much of the two files is read for the kept lines; row headers included. In bytes. */
const TAIL_BYTES = 6 * 2 ** 20
const SMALL_CHUNK = 64 * 1024
const LARGE_CHUNK = 2 ** 20
/** So much is read in one turn: a program that prints faster than it is read would never let anything else have one. In bytes. */
const TURN_BYTES = ROTATE_BYTES
/** More turns than two full logs take. */
const MOST_TURNS = 20
/** How fast lines of one console are decoded for viewers; what exceeds it is counted and skipped. In bytes, and bytes a millisecond. */
const DECODE_BURST = 64 * 2 ** 20
const DECODE_RATE = 8 * 2 ** 10
const REOPEN_TIMEOUT_MS = 2000
/** Added to the numbering where the number of lost lines is unknown, so that no number is given twice. */
const UNKNOWN_GAP = 10_000_000

/** Which lines a file holds: its first line has the number `before + 1`. */
interface LogFile {
  ino: number
  before: number
}

/**
 * The console log of one instance: conmon appends what the program prints, the platform appends its own lines in the same
 * format. Lines are numbered by their position, so nothing is written twice and a platform that was killed continues where the
 * file continues. The numbering of a rotated file is kept beside it (`<file>.numbers`).
 */
export class ContainerLog {
  private current: LogFile = { ino: 0, before: 0 }
  private previous: LogFile | undefined
  private handle: FileHandle | undefined
  /** Up to here the current file was read, and `last` lines end before. */
  private offset = 0
  private last = 0
  private joiner = new LineJoiner()
  private follower: ((lines: ConsoleLine[]) => void) | undefined
  private lineWatch: ((text: string) => void) | undefined
  private queue: Promise<unknown> = Promise.resolve()
  private decodable = DECODE_BURST
  /** By the monotonic clock: one that is set back would decode nothing until it is where it was. */
  private decodedAt = performance.now()
  private isReading = false
  private isClosing = false

  /** @param file path of the log. @param reopen makes conmon open the file anew; false where nobody writes it. */
  constructor(
    private readonly file: string,
    private readonly reopen: () => Promise<boolean>,
  ) {}

  /** The number of the newest line that was read; 0 when there is none. */
  get lastSeq(): number {
    return this.last
  }

  /** Reads what was appended since. Calls that come meanwhile share one more reading. */
  poll(): void {
    if (this.isReading) return
    this.isReading = true
    void this.exclusively(async () => {
      this.isReading = false
      const isDone = await this.read()
      if (!isDone && !this.isClosing) this.poll()
    }).catch(() => undefined)
  }

  /** Resolves when everything that is in the file now was read. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < MOST_TURNS; turn += 1) if (await this.exclusively(() => this.read())) return
  }

  /** Appends a line of the platform. A full disk loses it; nothing else fails for that. */
  async note(text: string): Promise<void> {
    await this.append([formatRow(Date.now(), 'system', consoleText(text))])
  }

  /** Ends lines that the program left without a line end, after its end. */
  async finishLines(): Promise<void> {
    await this.settle()
    await this.append(this.joiner.unfinished.map((stream) => formatRow(Date.now(), stream, '')))
  }

  /** The last kept lines, oldest first. */
  history(limit: number): Promise<ConsoleLine[]> {
    return this.exclusively(async () => {
      await this.read()
      return this.tail(Math.min(limit, KEPT_LINES))
    })
  }

  /** Calls back with the kept lines from a number on, then with every new one. One follower: another one takes its place. */
  follow(since: number, follower: (lines: ConsoleLine[]) => void): Promise<() => void> {
    return this.exclusively(async () => {
      await this.read()
      const kept = await this.tail(Math.min(this.last - since + 1, KEPT_LINES))
      this.follower = follower
      if (kept.length > 0) follower(kept)
      return () => {
        if (this.follower === follower) this.follower = undefined
      }
    })
  }

  /** Calls back with the text of every line that the program has printed after a number, until `undefined` is set. */
  async watchLines(after: number, watch: ((text: string) => void) | undefined): Promise<void> {
    await this.exclusively(async () => {
      await this.read()
      if (watch)
        for (const { seq, type, content } of await this.tail(Math.min(this.last - after, KEPT_LINES)))
          if (seq > after && type !== 'system') watch(content)
      this.lineWatch = watch
    })
  }

  /** Forgets the follower and closes the file; the log stays. */
  async close(): Promise<void> {
    this.follower = undefined
    this.lineWatch = undefined
    this.isClosing = true
    await this.exclusively(async () => {
      await this.handle?.close()
      this.handle = undefined
      this.current.ino = 0
    }).catch(() => undefined)
    this.isClosing = false
  }

  async remove(): Promise<void> {
    await this.close()
    for (const path of [this.file, this.previousFile, this.numbersFile]) await rm(path, { force: true })
    this.current = { ino: 0, before: 0 }
    this.previous = undefined
    this.last = 0
    this.offset = 0
  }

  private get previousFile(): string {
    return `${this.file}.1`
  }

  private get numbersFile(): string {
    return `${this.file}.numbers`
  }

  private exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.queue.then(work)
    this.queue = turn.catch(() => undefined)
    return turn
  }

  private async append(rows: string[]): Promise<void> {
    if (rows.length === 0) return
    await this.exclusively(async () => {
      await appendFile(this.file, rows.join(''), { mode: 0o600 }).catch(() => undefined)
      await this.read()
    })
  }

  /**
   * Reads on to the end of the newest file, or as far as one turn goes. A file that is long enough is rotated.
   * @param left bytes that this turn may still read.
   * @returns whether the end was reached.
   */
  private async read(left = TURN_BYTES): Promise<boolean> {
    if (!this.handle && !(await this.openFile())) return true
    let chunk = SMALL_CHUNK
    let isOver = false
    for (let isDrained = false; ;) {
      const bytes = await this.readChunk(chunk)
      left -= bytes
      isOver = bytes > 0 && left <= 0
      if (bytes > 0 && !isOver) {
        isDrained = false
        // Rows hardly ever end where a chunk does.
        if (bytes > chunk / 2) chunk = LARGE_CHUNK
        continue
      }
      const there = await inodeOf(this.file)
      if (there === undefined || there === this.current.ino) break
      // The rest of a file that was rotated away is for the next turn.
      if (isOver) return false
      // Rotated. Nothing is written to the old file after the new one is in place: one more reading takes its last rows.
      if (isDrained) await this.openFile()
      else isDrained = true
    }
    if (this.offset >= ROTATE_BYTES) return this.rotate(left)
    return !isOver
  }

  /** @returns how many bytes were read; 0 at the end of the file. */
  private async readChunk(size: number): Promise<number> {
    const buffer = Buffer.allocUnsafe(size)
    const { bytesRead } = (await this.handle?.read(buffer, 0, size, this.offset)) ?? { bytesRead: 0 }
    if (bytesRead === 0) return 0
    const isDecoded = this.follower !== undefined || this.lineWatch !== undefined ? this.mayDecode(bytesRead) : false
    const lines: ConsoleLine[] = []
    const rowsEnd = eachRow(buffer.subarray(0, bytesRead), (row, end) => {
      const line = this.joiner.add(row, buffer, end, isDecoded)
      if (!line) return
      this.last += 1
      if (line.text !== undefined) lines.push({ seq: this.last, type: line.type, content: consoleText(line.text) })
    })
    // A row that is still being written is read again; one that is longer than any chunk is no row.
    const used = rowsEnd === 0 && bytesRead >= LARGE_CHUNK ? bytesRead : rowsEnd
    this.offset += used
    for (const { content, type } of lines) if (type !== 'system') this.lineWatch?.(content)
    if (lines.length > 0) this.follower?.(lines)
    return used
  }

  private mayDecode(bytes: number): boolean {
    const now = performance.now()
    this.decodable = Math.min(DECODE_BURST, this.decodable + (now - this.decodedAt) * DECODE_RATE)
    this.decodedAt = now
    if (this.decodable < bytes) return false
    this.decodable -= bytes
    return true
  }

  /** Opens the file at the log's path, as the successor of the present one where there is one. */
  private async openFile(): Promise<boolean> {
    const handle = await open(this.file, 'r').catch((error: unknown) => {
      if (errorCodeOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (!handle) return false
    const { ino } = await handle.stat()
    const isFirst = this.handle === undefined
    await this.handle?.close()
    this.handle = handle
    if (isFirst) await this.recall(ino)
    else {
      this.previous = this.current.ino === (await inodeOf(this.previousFile)) ? this.current : undefined
      this.current = { ino, before: this.last }
    }
    this.offset = 0
    this.last = this.current.before
    this.joiner = new LineJoiner()
    await this.remember()
    return true
  }

  /** Finds out which lines the files hold that an earlier platform left. */
  private async recall(ino: number): Promise<void> {
    const known = await readFile(this.numbersFile, 'utf8')
      .then((text) => JSON.parse(text) as { current: LogFile; previous?: LogFile })
      .catch(() => undefined)
    const older = await inodeOf(this.previousFile)
    if (!known) {
      this.current = { ino, before: 0 }
    } else if (known.current.ino === ino) {
      this.current = known.current
      this.previous = known.previous?.ino === older ? known.previous : undefined
    } else if (known.current.ino === older) {
      // Rotated, and the platform ended before it could note that.
      this.previous = known.current
      this.current = { ino, before: known.current.before + (await this.countLines(this.previousFile)) }
    } else {
      this.current = { ino, before: Math.max(known.current.before, this.last) + UNKNOWN_GAP }
    }
  }

  private async countLines(path: string): Promise<number> {
    let count = 0
    eachRow(await readFile(path), ({ isPartial }) => {
      if (!isPartial) count += 1
    })
    return count
  }

  private async remember(): Promise<void> {
    const text = JSON.stringify({ current: this.current, previous: this.previous })
    try {
      await writeFile(`${this.numbersFile}.new`, text, { mode: 0o600 })
      await rename(`${this.numbersFile}.new`, this.numbersFile)
    } catch {
      // On a full disk the numbering of this file is lost with the platform; the lines are not.
    }
  }

  private async rotate(left: number): Promise<boolean> {
    await rename(this.file, this.previousFile)
    const isWritten = await this.reopen().catch(() => false)
    for (
      const deadline = performance.now() + REOPEN_TIMEOUT_MS;
      isWritten && performance.now() < deadline;
      await delay(5)
    ) {
      if ((await inodeOf(this.file)) !== undefined) return this.read(left)
    }
    // Nobody writes it: the next line begins a new file.
    await appendFile(this.file, '', { mode: 0o600 }).catch(() => undefined)
    return this.read(left)
  }

  /** Up to `limit` kept lines before the present position. */
  private async tail(limit: number): Promise<ConsoleLine[]> {
    if (limit <= 0 || !this.handle) return []
    for (let bytes = SMALL_CHUNK; ; bytes = Math.min(TAIL_BYTES, bytes * 8)) {
      const { buffer, isWhole } = await this.lastBytes(bytes)
      const texts: Omit<ConsoleLine, 'seq'>[] = []
      const joiner = new LineJoiner()
      // The first row may be cut, unless the buffer begins where the log begins.
      let skip = isWhole ? 0 : 1
      eachRow(buffer, (row, end) => {
        if (skip-- > 0) return
        const line = joiner.add(row, buffer, end, true)
        if (line?.text !== undefined) texts.push({ type: line.type, content: consoleText(line.text) })
      })
      if (texts.length < limit && !isWhole && bytes < TAIL_BYTES) continue
      return this.numbered(texts.slice(-limit))
    }
  }

  private numbered(texts: Omit<ConsoleLine, 'seq'>[]): ConsoleLine[] {
    let size = 0
    let from = texts.length
    while (from > 0) {
      size += Buffer.byteLength(texts[from - 1]?.content ?? '')
      if (size > KEPT_BYTES && from < texts.length) break
      from -= 1
    }
    const first = this.last - texts.length + 1
    return texts.slice(from).map((line, at) => ({ seq: first + from + at, ...line }))
  }

  /** The last bytes before the present position, of both files. */
  private async lastBytes(limit: number): Promise<{ buffer: Buffer; isWhole: boolean }> {
    const ofCurrent = Math.min(limit, this.offset)
    const parts = [await readPart(this.handle, this.offset - ofCurrent, ofCurrent)]
    let isWhole = ofCurrent === this.offset && this.previous === undefined
    if (this.previous && ofCurrent < limit) {
      const older = await open(this.previousFile, 'r').catch(() => undefined)
      try {
        const { ino, size } = (await older?.stat()) ?? { ino: 0, size: 0 }
        if (ino === this.previous.ino) {
          const ofOlder = Math.min(limit - ofCurrent, size)
          parts.unshift(await readPart(older, size - ofOlder, ofOlder))
          isWhole = ofOlder === size
        } else isWhole = ofCurrent === this.offset
      } finally {
        await older?.close()
      }
    }
    return { buffer: Buffer.concat(parts), isWhole }
  }
}

async function readPart(handle: FileHandle | undefined, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = (await handle?.read(buffer, 0, length, from)) ?? { bytesRead: 0 }
  return buffer.subarray(0, bytesRead)
}

async function inodeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ ino }) => ino,
    () => undefined,
  )
}
