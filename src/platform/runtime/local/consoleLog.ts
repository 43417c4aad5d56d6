import { appendFileSync, closeSync, existsSync, fstatSync, openSync, readSync, renameSync, rmSync } from 'node:fs'
import { consoleText } from '../consoleText'
import { KEPT_BYTES, KEPT_LINES, LineRing } from '../lineRing'
import type { ConsoleLine, ConsoleLineType, OutputType } from '../runtime'

/** What waits at most for a disk to have room again. In UTF-16 units. */
const PENDING_LIMIT = 2 ** 20

/** So much of a file's end is read at most: what is kept, with the numbers and types of its lines. In bytes. */
const READ_LIMIT = 4 * KEPT_BYTES

/**
 * One instance's console: numbered lines, kept in memory for reading and in two files for the next host. When the
 * current file holds KEPT_LINES, or KEPT_BYTES, it becomes the previous one, so both together always hold what is kept.
 */
export class ConsoleLog {
  private readonly ring = new LineRing()
  private linesInFile = 0
  /** Of the lines alone, without their numbers and types. */
  private bytesInFile = 0
  private pending = ''
  private flushed = 0

  /** @param onLines is told of new lines once they are in the file. */
  constructor(
    private readonly file: string,
    private readonly onLines: () => void = () => undefined,
  ) {
    for (const path of [this.previousFile, file]) {
      this.linesInFile = 0
      this.bytesInFile = 0
      if (existsSync(path)) this.read(path)
    }
    this.flushed = this.ring.last
    // A crash may have cut the last row short: what comes next must not continue it.
    if (this.ring.last > 0) this.pending = '\n'
  }

  /** Adds a line of the program. */
  add(type: OutputType, text: string): void {
    this.append(type, consoleText(text))
  }

  /** Adds a line of the platform. */
  note(text: string): void {
    this.append('system', consoleText(text))
  }

  private append(type: ConsoleLineType, content: string): void {
    const line = { seq: this.ring.last + 1, type, content }
    this.keep(line)
    this.pending += `${line.seq}\t${type}\t${content}\n`
  }

  /** As LineRing.since. */
  since(seq: number, limit?: number): ConsoleLine[] {
    return this.ring.since(seq, limit)
  }

  /**
   * Writes what was added since the last flush, and tells of it. Where the disk is full the lines go on in memory, and
   * the file gets what it can take later: a console is not worth an instance.
   */
  flush(): void {
    if (this.flushed === this.ring.last) return
    this.flushed = this.ring.last
    try {
      appendFileSync(this.file, this.pending, { mode: 0o600 })
      this.pending = ''
      if (this.linesInFile >= KEPT_LINES || this.bytesInFile >= KEPT_BYTES) {
        renameSync(this.file, this.previousFile)
        this.linesInFile = 0
        this.bytesInFile = 0
      }
    } catch {
      // Some of it may have been written: it is repeated whole, after whatever row was cut short.
      if (this.pending.length > PENDING_LIMIT) this.pending = '\n'
      else if (!this.pending.startsWith('\n')) this.pending = `\n${this.pending}`
    }
    this.onLines()
  }

  remove(): void {
    for (const path of [this.file, this.previousFile]) rmSync(path, { force: true })
  }

  private get previousFile(): string {
    return `${this.file}.1`
  }

  private keep(line: ConsoleLine): void {
    this.ring.add(line)
    this.linesInFile += 1
    this.bytesInFile += Buffer.byteLength(line.content)
  }

  private read(path: string): void {
    // A row that was written twice counts as it was the second time.
    const lines = new Map<number, ConsoleLine>()
    for (const row of endOf(path).split('\n')) {
      const [seq = '', type, ...content] = row.split('\t')
      // A row that a crash cut short has no type; its number is given again.
      if (!/^\d+$/.test(seq) || (type !== 'message' && type !== 'error' && type !== 'system')) continue
      lines.set(Number(seq), { seq: Number(seq), type, content: content.join('\t') })
    }
    for (const line of lines.values()) this.keep(line)
  }
}

/** The last READ_LIMIT bytes of a file; where it is longer, from the first row that begins there. */
function endOf(path: string): string {
  const descriptor = openSync(path, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const bytes = Buffer.alloc(Math.min(size, READ_LIMIT))
    const text = bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, size - bytes.length))
    return size > bytes.length ? text.slice(text.indexOf('\n') + 1) : text
  } finally {
    closeSync(descriptor)
  }
}
