import type { ConsoleLine } from './runtime'

/** Maximum number of lines that a console stores (decisions §6). */
export const MAX_STORED_LINES = 10_000
/** Maximum size of these lines together, in bytes of UTF-8. */
export const MAX_STORED_BYTES = 4 * 2 ** 20

/** Ring buffer of the last numbered lines of a console, limited by number and size. Adding takes constant time. */
export class LineRing {
  /** The line with number `seq` is at index `seq % capacity`. */
  private readonly lines: (ConsoleLine | undefined)[]
  /** Size of each line in bytes, at the same index. */
  private readonly sizes: Uint32Array
  private newest = 0
  private oldest = 1
  private size = 0

  /**
   * @param capacity maximum number of lines.
   * @param sizeLimit maximum total size in bytes of UTF-8; the newest line always stays.
   */
  constructor(
    private readonly capacity = MAX_STORED_LINES,
    private readonly sizeLimit = MAX_STORED_BYTES,
  ) {
    // Allocate the full length: V8 would turn an array that is filled from the middle into a slow dictionary.
    this.lines = new Array<ConsoleLine | undefined>(capacity)
    this.sizes = new Uint32Array(capacity)
  }

  /** Number of the newest line; 0 when there is none. */
  get newestSeq(): number {
    return this.newest
  }

  /** Number of the oldest stored line. */
  get oldestSeq(): number {
    return this.oldest
  }

  /** Numbers must increase. A gap discards all lines before it. */
  add(line: ConsoleLine): void {
    if (line.seq !== this.newest + 1) this.clear(line.seq)
    this.newest = line.seq
    const size = Buffer.byteLength(line.content)
    this.size += size
    while (this.newest - this.oldest >= this.capacity || (this.size > this.sizeLimit && this.oldest < this.newest))
      this.dropOldest()
    this.lines[line.seq % this.capacity] = line
    this.sizes[line.seq % this.capacity] = size
  }

  at(seq: number): ConsoleLine | undefined {
    return seq >= this.oldest && seq <= this.newest ? this.lines[seq % this.capacity] : undefined
  }

  /** The stored lines from a number on, oldest first; if there are more than `limit`, the newest ones. */
  since(seq: number, limit = this.capacity): ConsoleLine[] {
    const lines: ConsoleLine[] = []
    for (let at = Math.max(this.oldest, seq, this.newest - limit + 1); at <= this.newest; at++) {
      const line = this.at(at)
      if (line) lines.push(line)
    }
    return lines
  }

  private dropOldest(): void {
    this.size -= this.sizes[this.oldest % this.capacity] ?? 0
    this.sizes[this.oldest % this.capacity] = 0
    this.lines[this.oldest % this.capacity] = undefined
    this.oldest += 1
  }

  private clear(oldest: number): void {
    this.lines.fill(undefined)
    this.sizes.fill(0)
    this.size = 0
    this.oldest = oldest
  }
}

/** As many of the newest lines as a console stores. */
export function newestStored(lines: ConsoleLine[]): ConsoleLine[] {
  let bytes = 0
  let from = lines.length
  while (from > 0 && lines.length - from < MAX_STORED_LINES) {
    bytes += Buffer.byteLength(lines[from - 1]?.content ?? '')
    if (bytes > MAX_STORED_BYTES && from < lines.length) break
    from -= 1
  }
  return lines.slice(from)
}
