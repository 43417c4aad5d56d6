import type { Socket } from 'node:net'
import type { Limiter } from './limiter'
import type { ConsoleLine, ConsoleLineType, InstanceSpec, RuntimeInstance, Usage } from '../runtime'

/** Raised with every change that an older side would misread. */
export const PROTOCOL_VERSION = 2

/**
 * The last argument of a call that answers with lines: the history of a console may be megabytes, which one message would hold up both
 * sides with. A host that does not know it answers in one message, and a platform that does not know it does not ask.
 */
export const IN_PIECES = 'inPieces'
/** A piece is ended by its size. In UTF-16 units. */
const PIECE_LENGTH = 64 * 1024

/** What the platform asks of the host: JSON lines over the unix socket, each request with an id that its answer repeats. */
export interface HostCalls {
  hello(): { version: number; pid: number; limits: string; enforced: Limiter['enforced'] }
  /** Runs it in `spec.directory` as it is: copies are the platform's work. */
  start(spec: InstanceSpec): void
  /** Notes that a start failed before there was a process to run. */
  startFailed(podName: string, failure: string): void
  stop(podName: string): void
  kill(podName: string): void
  remove(podName: string): void
  list(): RuntimeInstance[]
  history(podName: string, lines: number, ...pieces: [typeof IN_PIECES?]): ConsoleLine[]
  /** Answers with the lines from a number on; from then on this connection is told of new ones. */
  follow(podName: string, since: number, ...pieces: [typeof IN_PIECES?]): ConsoleLine[]
  unfollow(podName: string): void
  note(podName: string, text: string): void
  write(podName: string, line: string): boolean
  sample(): Usage[]
  /** Ends every instance gracefully, then the host; answered when all have ended. */
  shutdown(): Promise<void>
}

export type CallName = keyof HostCalls

export interface HostRequest {
  id: number
  call: CallName
  args: unknown[]
}

/** Several lines of one type in one message, joined by line feeds: consoles may be fast. */
export interface LinesEvent {
  event: 'lines'
  podName: string
  /** Of the first one. */
  seq: number
  type: ConsoleLineType
  content: string
}

/** A part of the lines that an answer consists of; the rest follows. Only who has asked for pieces gets it. */
export interface LinesPiece {
  id: number
  piece: ConsoleLine[]
}

export type HostMessage =
  { id: number; result: unknown } | LinesPiece | { id: number; error: string } | { event: 'changed' } | LinesEvent

/** Divides lines into pieces for sending: at least one, which may be empty. */
export function piecesOf(lines: ConsoleLine[]): ConsoleLine[][] {
  const pieces: ConsoleLine[][] = [[]]
  let length = 0
  for (const line of lines) {
    if (length > PIECE_LENGTH) {
      pieces.push([])
      length = 0
    }
    pieces.at(-1)!.push(line)
    length += line.content.length
  }
  return pieces
}

/** Groups lines for sending; a group is ended by its size as well. */
export function* linesEvents(podName: string, lines: ConsoleLine[]): Generator<LinesEvent> {
  for (let from = 0; from < lines.length;) {
    const first = lines[from]
    if (!first) return
    let to = from + 1
    for (let length = first.content.length; lines[to]?.type === first.type && length < PIECE_LENGTH; to += 1)
      length += lines[to]?.content.length ?? 0
    yield {
      event: 'lines',
      podName,
      seq: first.seq,
      type: first.type,
      content: lines
        .slice(from, to)
        .map(({ content }) => content)
        .join('\n'),
    }
    from = to
  }
}

/** The lines of a group. */
export function linesOf({ seq, type, content }: LinesEvent): ConsoleLine[] {
  return content.split('\n').map((line, at) => ({ seq: seq + at, type, content: line }))
}

/** Writes one message as a line. */
export function sendLine(socket: Socket, message: HostRequest | HostMessage): void {
  socket.write(`${JSON.stringify(message)}\n`)
}

/**
 * Calls back for every line of the other side. A line that is no JSON ends the connection. Only line feeds end a line, and
 * those of a text are escaped; what else Unicode takes for a line end is not escaped by JSON.
 */
export function onLines(socket: Socket, listener: (message: unknown) => void): void {
  let begun: Buffer[] = []
  socket.on('data', (chunk: Buffer) => {
    let from = 0
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      const line =
        begun.length === 0
          ? chunk.toString('utf8', from, end)
          : Buffer.concat([...begun, chunk.subarray(from, end)]).toString()
      begun = []
      from = end + 1
      let message: unknown
      try {
        message = JSON.parse(line)
      } catch {
        socket.destroy()
        return
      }
      listener(message)
    }
    if (from < chunk.length) begun.push(chunk.subarray(from))
  })
}

const LINE_FEED = 0x0a
