import { StringDecoder } from 'node:string_decoder'

/** What is held at most while no line end comes; then it is given out as a line. In UTF-16 units. */
const HELD_LIMIT = 64 * 1024

/** Cuts a stream of bytes into lines: UTF-8 across chunk borders, `\n` or `\r\n`, bounded memory. */
export class LineSplitter {
  private readonly decoder = new StringDecoder('utf8')
  private held = ''

  constructor(private readonly onLine: (line: string) => void) {}

  push(chunk: Buffer): void {
    const parts = (this.held + this.decoder.write(chunk)).split('\n')
    this.held = parts.pop() ?? ''
    for (const part of parts) this.onLine(part.endsWith('\r') ? part.slice(0, -1) : part)
    if (this.held.length > HELD_LIMIT) this.end()
  }

  /** Gives out what is held: the stream ended without a line end. */
  end(): void {
    const rest = this.held + this.decoder.end()
    this.held = ''
    if (rest !== '') this.onLine(rest)
  }
}
