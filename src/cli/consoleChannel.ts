import { randomUUID } from 'node:crypto'
import { WebSocket, type RawData } from 'ws'
import { ConsoleAnswer, ConsoleFrame, SINCE, type ConsoleRequest } from '../contract/sockets/consoleChannel'
import { connectionFailure, type Api } from './api/client'
import { adviceOf, CliError, EXIT, exitCodeOf } from './failure'
import type { InstanceTarget } from './targets'

/** Bytes of a frame: 64 Ki characters and one more line, each character in its longest JSON form. */
const FRAME_LIMIT = 4 * 2 ** 20
const RESPONSE_TIMEOUT_MS = 60_000
/** The platform sends a ping every 30 s. */
const SILENCE_TIMEOUT_MS = 75_000

export interface ConsoleChannel {
  /** Resolves when the platform has executed the request. @throws CliError if it refused, or the connection ended */
  request(request: WithoutRef<ConsoleRequest>): Promise<void>
  /** Resolves when the platform has answered a ping. It has then sent everything that was pending. */
  ping(): Promise<void>
  /** Resolves with the close code when the connection has ended. */
  closed: Promise<number>
  /** Stops reading. The platform then holds lines back, and reports a gap if it drops some. */
  pause(): void
  resume(): void
  close(): void
}

type WithoutRef<Request> = Request extends { ref?: unknown } ? Omit<Request, 'ref'> : never

/**
 * Opens the console of an instance.
 * @param since the first line to send; undefined: the last 1,000 lines
 * @throws CliError if the platform refuses the connection or cannot be reached
 */
export async function openConsole(
  api: Api,
  { deployment, podName }: InstanceTarget,
  { since, onFrame = () => undefined }: { since?: number; onFrame?: (frame: ConsoleFrame) => void } = {},
): Promise<ConsoleChannel> {
  const query = since === undefined ? '' : `?${SINCE}=${since}`
  const socket = new WebSocket(`${api.server.replace(/^http/, 'ws')}/api/logs/${deployment}/${podName}${query}`, {
    headers: { authorization: `Bearer ${api.key}` },
    maxPayload: FRAME_LIMIT,
    perMessageDeflate: false,
    handshakeTimeout: 30_000,
  })
  const pending = new Map<string, (answer: ConsoleAnswer) => void>()
  const closed = new Promise<number>((resolve) => socket.on('close', (code) => resolve(code)))
  socket.on('message', (data) => {
    const value = parseJson(data)
    const answer = ConsoleAnswer.safeParse(value).data
    if (answer) pending.get(answer.ref)?.(answer)
    const frame = ConsoleFrame.safeParse(value).data
    if (frame) onFrame(frame)
  })
  terminateWhenSilent(socket)
  await untilOpen(api.server, socket, podName)

  /** @throws CliError if the connection ends before the work */
  const unlessClosed = async <Result>(work: Promise<Result>): Promise<Result> => {
    const ended = closed.then(() => {
      throw new CliError(
        EXIT.unreachable,
        'The connection was lost before the server confirmed the request. Look with: quarterdeck ps',
      )
    })
    return Promise.race([work, ended])
  }
  return {
    closed,
    async request(request) {
      const ref = randomUUID()
      const { promise, resolve, reject } = withResolvers<ConsoleAnswer>()
      pending.set(ref, resolve)
      const timer = setTimeout(
        () =>
          reject(
            new CliError(EXIT.failed, 'The server did not confirm the request in time. Look with: quarterdeck ps'),
          ),
        RESPONSE_TIMEOUT_MS,
      )
      socket.send(JSON.stringify({ ...request, ref }))
      try {
        const { failure } = await unlessClosed(promise)
        if (failure) throw refusal(failure)
      } finally {
        clearTimeout(timer)
        pending.delete(ref)
      }
    },
    ping: () =>
      unlessClosed(
        new Promise((resolve) => {
          socket.once('pong', () => resolve())
          socket.ping()
        }),
      ),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.terminate(),
  }
}

/** @throws CliError if the platform refuses the connection or cannot be reached */
function untilOpen(server: string, socket: WebSocket, podName: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.on('error', (error) => reject(connectionFailure(server, error)))
    socket.once('unexpected-response', (_request, { statusCode = 500 }) => {
      const messages: Record<number, string> = {
        401: 'The key is not valid any more.',
        403: `You may not use the console of ${podName}.`,
        404: `There is no instance ${podName}.`,
        429: 'Too many consoles are open.',
      }
      const isUnavailable = statusCode === 502 || statusCode === 503 || statusCode === 504
      const message = messages[statusCode] ?? `The server answered ${statusCode}.`
      reject(new CliError(isUnavailable ? EXIT.unreachable : exitCodeOf(statusCode), message + adviceOf(statusCode)))
      // Unlike the end of the request alone, this emits `close`.
      socket.terminate()
    })
  })
}

/** Ends a connection on which nothing arrives, not even pings. */
function terminateWhenSilent(socket: WebSocket): void {
  const timer = setTimeout(() => (socket.isPaused ? timer.refresh() : socket.terminate()), SILENCE_TIMEOUT_MS)
  socket.on('ping', () => timer.refresh())
  socket.on('message', () => timer.refresh())
  socket.on('close', () => clearTimeout(timer))
}

function refusal({ code, message }: { code: string; message: string }): CliError {
  const exits = new Map<string, number>([
    ['NOT_ALLOWED', EXIT.notAllowed],
    ['NOT_FOUND', EXIT.notFound],
  ])
  return new CliError(exits.get(code) ?? EXIT.failed, message, code)
}

function parseJson(data: RawData): unknown {
  try {
    return JSON.parse((data as Buffer).toString()) as unknown
  } catch {
    return undefined
  }
}

/** As `Promise.withResolvers`, which Node.js 20 does not have. */
function withResolvers<Value>() {
  let resolve!: (value: Value) => void
  let reject!: (error: Error) => void
  const promise = new Promise<Value>((onDone, onFailure) => {
    resolve = onDone
    reject = onFailure
  })
  return { promise, resolve, reject }
}
