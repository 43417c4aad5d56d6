import { LINE_LIMIT } from '../../consoleText'
import { lineText } from '../../logRows'
import type { ConsoleLineType } from '../../runtime'

/**
 * The container log format of CRI (Kubernetes: "CRI logging format"), which the kubelet uses and conmon writes as
 * `k8s-file`: rows of `<RFC 3339 time> <stream> <tag> <content>`. Tag `P` marks a row that the next row of its stream
 * continues. The third stream, `system`, is our own, for lines of the platform. No program can write to it, because
 * conmon puts its own header before all output.
 */
export type LogStream = 'stdout' | 'stderr' | 'system'

export interface LogRow {
  stream: LogStream
  /** Whether the next row of this stream continues the line. */
  isPartial: boolean
  /** Start of the content in the buffer; it ends at the end of the row. */
  contentStart: number
}

const SPACE = 0x20
const PARTIAL = 0x50
const STREAM_LENGTH = 6

/**
 * Parses the header of a row. A row with an invalid header (a full disk may truncate one) counts as a complete line of
 * `stdout`, so that the numbering depends on the bytes of the file only.
 * @param start offset of the row. @param end offset of its line feed.
 */
export function readRow(buffer: Buffer, start: number, end: number): LogRow {
  const timeEnd = buffer.indexOf(SPACE, start)
  const tagAt = timeEnd + STREAM_LENGTH + 2
  if (
    timeEnd === -1 ||
    timeEnd - start > 40 ||
    tagAt + 1 >= end ||
    buffer[timeEnd + STREAM_LENGTH + 1] !== SPACE ||
    buffer[tagAt + 1] !== SPACE
  ) {
    return { stream: 'stdout', isPartial: false, contentStart: start }
  }
  const stream = buffer.toString('latin1', timeEnd + 1, timeEnd + 1 + STREAM_LENGTH)
  if (stream !== 'stdout' && stream !== 'stderr' && stream !== 'system')
    return { stream: 'stdout', isPartial: false, contentStart: start }
  return { stream, isPartial: buffer[tagAt] === PARTIAL, contentStart: tagAt + 2 }
}

/** A row in conmon's format. @param at milliseconds since the epoch */
export function formatRow(at: number, stream: LogStream, content: string): string {
  return `${new Date(at).toISOString()} ${stream} F ${content}\n`
}

/** Joins the rows of each stream into lines. */
export class LineJoiner {
  private readonly pending = new Map<LogStream, { parts: Buffer[]; length: number }>()

  /** @returns the line that this row completes, with its text if `isDecoded`; undefined for a partial row. */
  add(
    { stream, isPartial, contentStart }: LogRow,
    buffer: Buffer,
    end: number,
    isDecoded: boolean,
  ): { type: ConsoleLineType; text: string | undefined } | undefined {
    const type = stream === 'system' ? 'system' : stream === 'stderr' ? 'error' : 'message'
    if (!isPartial && !isDecoded) {
      this.pending.delete(stream)
      return { type, text: undefined }
    }
    // The line is cut at LINE_LIMIT anyway. `+ 4` makes it exceed the limit, so that `consoleText` marks the cut.
    const content = buffer.subarray(contentStart, Math.min(end, contentStart + LINE_LIMIT + 4))
    const before = this.pending.get(stream)
    if (isPartial) {
      if (!before) this.pending.set(stream, { parts: [Buffer.from(content)], length: content.length })
      else if (content.length > 0 && before.length <= LINE_LIMIT) {
        before.parts.push(Buffer.from(content))
        before.length += content.length
      }
      return undefined
    }
    this.pending.delete(stream)
    return { type, text: lineText(before ? Buffer.concat([...before.parts, content]) : content) }
  }

  /** The streams whose last row is partial. */
  get unfinished(): LogStream[] {
    return [...this.pending.keys()]
  }
}
