import { StringDecoder } from 'node:string_decoder'

/** What is held at most while no line end comes; then it is given out, and the rest of the line is let go. In UTF-16 units. */
const HELD_LIMIT = 64 * 1024

/** Cuts a stream of bytes into lines: UTF-8 across chunk borders, `\n` or `\r\n`, bounded memory. */
export class LineSplitter {
  private readonly decoder = new StringDecoder('utf8')
  private held = ''
  /** The line was given out already, as far as anybody wants it. */
  private isGivenOut = false

  constructor(private readonly onLine: (line: string) => void) {}

  push(chunk: Buffer): void {
    const parts = (this.held + this.decoder.write(chunk)).split('\n')
    this.held = parts.pop() ?? ''
    for (const part of parts) {
      if (!this.isGivenOut) this.onLine(part.endsWith('\r') ? part.slice(0, -1) : part)
      this.isGivenOut = false
    }
    if (this.held.length > HELD_LIMIT) {
      if (!this.isGivenOut) this.onLine(this.held)
      this.isGivenOut = true
    }
    if (this.isGivenOut) this.held = ''
  }

  /** Gives out what is held: the stream ended without a line end. */
  end(): void {
    const rest = this.held + this.decoder.end()
    this.held = ''
    if (rest !== '' && !this.isGivenOut) this.onLine(rest)
    this.isGivenOut = false
  }
}
