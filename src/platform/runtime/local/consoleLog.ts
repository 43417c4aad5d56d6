import { appendFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import type { ConsoleLine, ConsoleLineType } from '../runtime'

/** How many lines an instance's console keeps, in memory and, at least, in its files. */
export const KEPT_LINES = 10_000
/** A line longer than this is cut (decisions §6). In UTF-16 units. */
const LINE_LIMIT = 8192

/**
 * One instance's console: numbered lines, kept in memory for reading and in two files for the next host. When the
 * current file holds KEPT_LINES it becomes the previous one, so both together always hold the last KEPT_LINES.
 */
export class ConsoleLog {
  /** Where the line of a number stands: at `seq % KEPT_LINES`. */
  private readonly ring: ConsoleLine[] = []
  private last = 0
  private linesInFile = 0
  private pending = ''

  constructor(private readonly file: string) {
    for (const path of [this.previousFile, file]) {
      this.linesInFile = 0
      if (existsSync(path)) this.read(path)
    }
    // A crash may have cut the last row short: what comes next must not continue it.
    if (this.last > 0) this.pending = '\n'
  }

  /** The number of the newest line; 0 when there is none. */
  get lastSeq(): number {
    return this.last
  }

  add(type: ConsoleLineType, text: string): ConsoleLine {
    const content = text.length > LINE_LIMIT ? `${text.slice(0, LINE_LIMIT)}…` : text
    const line = { seq: this.last + 1, type, content }
    this.keep(line)
    this.pending += `${line.seq}\t${type}\t${content}\n`
    return line
  }

  /** The kept lines from a number on, oldest first, at most `limit` of the newest. */
  since(seq: number, limit = KEPT_LINES): ConsoleLine[] {
    const oldest = Math.max(1, seq, this.last - limit + 1, this.last - KEPT_LINES + 1)
    const lines: ConsoleLine[] = []
    for (let at = oldest; at <= this.last; at++) {
      const line = this.ring[at % KEPT_LINES]
      if (line?.seq === at) lines.push(line)
    }
    return lines
  }

  /** Writes what was added since the last flush. The host calls it before anybody is told of a line. */
  flush(): void {
    if (this.pending === '' || this.pending === '\n') return
    appendFileSync(this.file, this.pending, { mode: 0o600 })
    this.pending = ''
    if (this.linesInFile >= KEPT_LINES) {
      renameSync(this.file, this.previousFile)
      this.linesInFile = 0
    }
  }

  remove(): void {
    for (const path of [this.file, this.previousFile]) rmSync(path, { force: true })
  }

  private get previousFile(): string {
    return `${this.file}.1`
  }

  private keep(line: ConsoleLine): void {
    this.ring[line.seq % KEPT_LINES] = line
    this.last = line.seq
    this.linesInFile += 1
  }

  private read(path: string): void {
    for (const row of readFileSync(path, 'utf8').split('\n')) {
      const [seq = '', type, ...content] = row.split('\t')
      // A row that a crash cut short has no type; its number is given again.
      if (!/^\d+$/.test(seq) || (type !== 'message' && type !== 'error')) continue
      this.keep({ seq: Number(seq), type, content: content.join('\t') })
    }
  }
}
