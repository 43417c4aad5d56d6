import { appendFileSync, closeSync, existsSync, fstatSync, openSync, readSync, renameSync, rmSync } from 'node:fs'
import { consoleText } from '../consoleText'
import { MAX_STORED_BYTES, MAX_STORED_LINES, LineRing } from '../lineRing'
import type { ConsoleLine, ConsoleLineType, OutputType } from '../runtime'

/** Maximum UTF-16 units buffered while the disk is full. */
const MAX_PENDING_LENGTH = 2 ** 20

/** Maximum bytes read from the end of a file: the stored lines with their numbers and types. */
const MAX_TAIL_BYTES = 4 * MAX_STORED_BYTES

/**
 * The console of one instance: lines in memory for reading, and in two files for the next host. At MAX_STORED_LINES or
 * MAX_STORED_BYTES the current file becomes the previous one, so both together always cover the stored lines.
 */
export class ConsoleLog {
  private readonly ring = new LineRing()
  private linesInFile = 0
  /** Size of the lines without their numbers and types. */
  private bytesInFile = 0
  private pending = ''
  private flushedSeq = 0

  /** @param onAppended called after new lines were flushed. */
  constructor(
    private readonly file: string,
    private readonly onAppended: () => void = () => undefined,
  ) {
    for (const path of [this.previousFile, file]) {
      this.linesInFile = 0
      this.bytesInFile = 0
      if (existsSync(path)) this.read(path)
    }
    this.flushedSeq = this.ring.newestSeq
    // A crash may have truncated the last row: start a new one.
    if (this.ring.newestSeq > 0) this.pending = '\n'
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
    const line = { seq: this.ring.newestSeq + 1, type, content }
    this.store(line)
    this.pending += `${line.seq}\t${type}\t${content}\n`
  }

  /** As LineRing.since. */
  since(seq: number, limit?: number): ConsoleLine[] {
    return this.ring.since(seq, limit)
  }

  /**
   * Writes pending lines to the file and calls `onAppended`. If the disk is full, the lines stay available in memory
   * and the next flush tries again: a console must not stop an instance.
   */
  flush(): void {
    if (this.flushedSeq === this.ring.newestSeq) return
    this.flushedSeq = this.ring.newestSeq
    try {
      appendFileSync(this.file, this.pending, { mode: 0o600 })
      this.pending = ''
      if (this.linesInFile >= MAX_STORED_LINES || this.bytesInFile >= MAX_STORED_BYTES) {
        renameSync(this.file, this.previousFile)
        this.linesInFile = 0
        this.bytesInFile = 0
      }
    } catch {
      // The file may contain part of it: write it again completely, after the truncated row.
      if (this.pending.length > MAX_PENDING_LENGTH) this.pending = '\n'
      else if (!this.pending.startsWith('\n')) this.pending = `\n${this.pending}`
    }
    this.onAppended()
  }

  remove(): void {
    for (const path of [this.file, this.previousFile]) rmSync(path, { force: true })
  }

  private get previousFile(): string {
    return `${this.file}.1`
  }

  private store(line: ConsoleLine): void {
    this.ring.add(line)
    this.linesInFile += 1
    this.bytesInFile += Buffer.byteLength(line.content)
  }

  private read(path: string): void {
    // If a row was written twice, the second one counts.
    const lines = new Map<number, ConsoleLine>()
    for (const row of readTail(path).split('\n')) {
      const [seq = '', type, ...content] = row.split('\t')
      // Skip rows that a crash truncated; their number is used again.
      if (!/^\d+$/.test(seq) || (type !== 'message' && type !== 'error' && type !== 'system')) continue
      lines.set(Number(seq), { seq: Number(seq), type, content: content.join('\t') })
    }
    for (const line of lines.values()) this.store(line)
  }
}

/** The last MAX_TAIL_BYTES of a file, without an incomplete first row. */
function readTail(path: string): string {
  const descriptor = openSync(path, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const bytes = Buffer.alloc(Math.min(size, MAX_TAIL_BYTES))
    const text = bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, size - bytes.length))
    return size > bytes.length ? text.slice(text.indexOf('\n') + 1) : text
  } finally {
    closeSync(descriptor)
  }
}
