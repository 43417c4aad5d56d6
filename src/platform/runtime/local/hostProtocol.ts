import type { Socket } from 'node:net'
import type { ResourceLimiter } from './resourceLimiter'
import type { ConsoleLine, ConsoleLineType, LocalSpec, RuntimeInstance, Usage } from '../runtime'

/** Increased with every change that an older peer would misread. */
export const PROTOCOL_VERSION = 2

/**
 * Last argument of calls that answer with lines: requests the response in several messages, because megabytes in one
 * message would block both processes. Older hosts ignore it and send one message; older platforms never pass it.
 */
export const IN_PIECES = 'inPieces'
/** Size limit of a piece, in UTF-16 units. */
const PIECE_LENGTH = 64 * 1024
const LINE_FEED = 0x0a

/** Calls of the platform to the host: JSON lines over the unix socket. A response repeats the id of its request. */
export interface HostCalls {
  hello(): { version: number; pid: number; limits: string; enforced: ResourceLimiter['enforced'] }
  /** Runs the instance in `spec.directory`; the platform has made any copy before. */
  start(spec: LocalSpec): Promise<void>
  /** Records a start that failed before there was a process. Older hosts ignore `isTemporary`. */
  startFailed(podName: string, failure: string, isTemporary?: boolean): void
  stop(podName: string): void
  kill(podName: string): void
  remove(podName: string): void
  list(): RuntimeInstance[]
  history(podName: string, lines: number, ...pieces: [typeof IN_PIECES?]): ConsoleLine[]
  /** Answers with the lines from a number on, and subscribes this connection to new ones. */
  follow(podName: string, since: number, ...pieces: [typeof IN_PIECES?]): ConsoleLine[]
  unfollow(podName: string): void
  note(podName: string, text: string): void
  write(podName: string, line: string): boolean
  sample(): Usage[]
  /** Stops every instance gracefully, then the host. Answers after all have ended. */
  shutdown(): Promise<void>
}

export type CallName = keyof HostCalls

export interface HostRequest {
  id: number
  call: CallName
  args: unknown[]
}

/** Consecutive lines of one type in one message, joined by line feeds, because consoles may be fast. */
export interface LinesEvent {
  event: 'lines'
  podName: string
  /** Number of the first line. */
  seq: number
  type: ConsoleLineType
  content: string
}

/** Part of a response with lines; more follows. Only sent for a request with IN_PIECES. */
export interface LinesPiece {
  id: number
  piece: ConsoleLine[]
}

export type HostMessage =
  { id: number; result: unknown } | LinesPiece | { id: number; error: string } | { event: 'changed' } | LinesEvent

/** Splits lines into pieces: at least one, which may be empty. */
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

/** Groups lines into messages, limited by PIECE_LENGTH. */
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

/** Splits a group into its lines. */
export function linesOf({ seq, type, content }: LinesEvent): ConsoleLine[] {
  return content.split('\n').map((line, at) => ({ seq: seq + at, type, content: line }))
}

/** Writes one message as a line. */
export function sendLine(socket: Socket, message: HostRequest | HostMessage): void {
  socket.write(`${JSON.stringify(message)}\n`)
}

/**
 * Calls back for every line of the peer. Invalid JSON closes the connection. Only line feeds end a message: JSON
 * escapes them in texts, but not the other line ends of Unicode.
 */
export function onMessages(socket: Socket, listener: (message: unknown) => void): void {
  let partial: Buffer[] = []
  socket.on('data', (chunk: Buffer) => {
    let from = 0
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      const line =
        partial.length === 0
          ? chunk.toString('utf8', from, end)
          : Buffer.concat([...partial, chunk.subarray(from, end)]).toString()
      partial = []
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
    if (from < chunk.length) partial.push(chunk.subarray(from))
  })
}
