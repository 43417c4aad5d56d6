import type { ConsoleLine } from './runtime'

/** How many lines an instance's console keeps (decisions §6). */
export const KEPT_LINES = 10_000

/** The last KEPT_LINES numbered lines of a console. Adding one costs the same however many there are. */
export class LineRing {
  /** Where the line of a number stands: at `seq % KEPT_LINES`. */
  private readonly lines: ConsoleLine[] = []
  private newest = 0
  private eldest = 1

  /** The number of the newest line; 0 when there is none. */
  get last(): number {
    return this.newest
  }

  /** The number of the oldest line that is kept. */
  get oldest(): number {
    return this.eldest
  }

  /** Lines come in order; after a gap in their numbers only those after it are kept. */
  add(line: ConsoleLine): void {
    if (line.seq !== this.newest + 1) this.eldest = line.seq
    this.lines[line.seq % KEPT_LINES] = line
    this.newest = line.seq
    this.eldest = Math.max(this.eldest, line.seq - KEPT_LINES + 1)
  }

  at(seq: number): ConsoleLine | undefined {
    return seq >= this.eldest && seq <= this.newest ? this.lines[seq % KEPT_LINES] : undefined
  }

  /** The kept lines from a number on, oldest first, at most `limit` of the newest. */
  since(seq: number, limit = KEPT_LINES): ConsoleLine[] {
    const lines: ConsoleLine[] = []
    for (let at = Math.max(this.eldest, seq, this.newest - limit + 1); at <= this.newest; at++) {
      const line = this.at(at)
      if (line) lines.push(line)
    }
    return lines
  }
}
