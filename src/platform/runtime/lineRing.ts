import type { ConsoleLine } from './runtime'

/** How many lines an instance's console keeps (decisions §6), */
export const KEPT_LINES = 10_000
/** unless they are longer than this together. In bytes of UTF-8. */
export const KEPT_BYTES = 4 * 2 ** 20

/** The last numbered lines of a console, bounded by their number and size. Adding one costs the same however many there are. */
export class LineRing {
  /** Where the line of a number stands: at `seq % capacity`. */
  private readonly lines: (ConsoleLine | undefined)[]
  /** Of the lines, in the same places. */
  private readonly sizes: Uint32Array
  private newest = 0
  private eldest = 1
  private size = 0

  /**
   * @param capacity in lines.
   * @param sizeLimit of all lines together, in bytes of UTF-8. The newest line is kept however long it is.
   */
  constructor(
    private readonly capacity = KEPT_LINES,
    private readonly sizeLimit = KEPT_BYTES,
  ) {
    // Of its full length from the start: one that begins in the middle would become a slow dictionary.
    this.lines = new Array<ConsoleLine | undefined>(capacity)
    this.sizes = new Uint32Array(capacity)
  }

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
    if (line.seq !== this.newest + 1) this.clear(line.seq)
    this.newest = line.seq
    const size = Buffer.byteLength(line.content)
    this.size += size
    while (this.newest - this.eldest >= this.capacity || (this.size > this.sizeLimit && this.eldest < this.newest))
      this.dropEldest()
    this.lines[line.seq % this.capacity] = line
    this.sizes[line.seq % this.capacity] = size
  }

  at(seq: number): ConsoleLine | undefined {
    return seq >= this.eldest && seq <= this.newest ? this.lines[seq % this.capacity] : undefined
  }

  /** The kept lines from a number on, oldest first, at most `limit` of the newest. */
  since(seq: number, limit = this.capacity): ConsoleLine[] {
    const lines: ConsoleLine[] = []
    for (let at = Math.max(this.eldest, seq, this.newest - limit + 1); at <= this.newest; at++) {
      const line = this.at(at)
      if (line) lines.push(line)
    }
    return lines
  }

  private dropEldest(): void {
    this.size -= this.sizes[this.eldest % this.capacity] ?? 0
    this.sizes[this.eldest % this.capacity] = 0
    this.lines[this.eldest % this.capacity] = undefined
    this.eldest += 1
  }

  private clear(eldest: number): void {
    this.lines.fill(undefined)
    this.sizes.fill(0)
    this.size = 0
    this.eldest = eldest
  }
}
