import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** Maximum UTF-16 code units buffered without a line end. A longer line is emitted, and the rest of it is dropped. */
const MAX_BUFFERED_LENGTH = 64 * 1024

/** Splits a stream of bytes into lines: UTF-8 across chunks, `\n` or `\r\n`, bounded memory. */
export class LineSplitter {
  private readonly decoder = new StringDecoder('utf8')
  private buffered = ''
  /** The current line was already emitted because of its length. */
  private isEmitted = false

  constructor(private readonly onLine: (line: string) => void) {}

  push(chunk: Buffer): void {
    const parts = (this.buffered + this.decoder.write(chunk)).split('\n')
    this.buffered = parts.pop() ?? ''
    for (const part of parts) {
      if (!this.isEmitted) this.onLine(part.endsWith('\r') ? part.slice(0, -1) : part)
      this.isEmitted = false
    }
    if (this.buffered.length > MAX_BUFFERED_LENGTH) {
      if (!this.isEmitted) this.onLine(this.buffered)
      this.isEmitted = true
    }
    if (this.isEmitted) this.buffered = ''
  }

  /** Emits the buffered rest when the stream ends without a line end. */
  end(): void {
    const rest = this.buffered + this.decoder.end()
    this.buffered = ''
    if (rest !== '' && !this.isEmitted) this.onLine(rest)
    this.isEmitted = false
  }
}

/**
 * Calls back for each line of a program's output, cut as above. Node.js's readline buffers a line without limit, and
 * users can write long texts to the log of a database server.
 */
export function readOutput(output: Readable, onLine: (line: string) => void): void {
  const lines = new LineSplitter(onLine)
  output.on('data', (chunk: Buffer) => lines.push(chunk))
  output.on('end', () => lines.end())
  output.on('error', () => undefined)
}
