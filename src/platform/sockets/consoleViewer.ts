import type { WebSocket } from 'ws'
import type { ConsoleAnswer, ConsoleFrame } from '../../contract/sockets/consoleChannel'
import type { ErrorCode } from '../../contract/errors'
import { refOf } from './consoleRequests'
import type { ConsoleFeed, Outlet } from './consoleFeed'

/** The lines sent to a new connection (decisions §6). */
const HISTORY_LINES = 1000
/** A viewer that does not answer a ping until the next one is disconnected. */
const PING_MS = 30_000
/** Limit of a viewer's queued messages, which are executed one after another and may take seconds. */
const MAX_QUEUED_MESSAGES = 100
/** Limit of a viewer's queued messages in bytes. */
const MAX_QUEUED_BYTES = 2 ** 20

/**
 * Sends the feed to a viewer until its connection closes.
 * @param since the first line to send; undefined: the last ones; `states`: only frames without lines
 */
export function sendFeed(viewer: WebSocket, feed: ConsoleFeed, since: number | 'states' | undefined): void {
  const outlet: Outlet = {
    get bufferedAmount() {
      return viewer.bufferedAmount
    },
    send: (text, onSent) => viewer.send(text, onSent),
  }
  const detach = since === 'states' ? feed.attachForStates(outlet) : feed.attach(outlet, since, HISTORY_LINES)
  viewer.on('close', detach)
}

/** Disconnects a viewer that has stopped answering. */
export function watchLiveness(viewer: WebSocket): void {
  let isAlive = true
  const ping = setInterval(() => {
    if (!isAlive) return viewer.terminate()
    isAlive = false
    viewer.ping()
  }, PING_MS)
  viewer.on('pong', () => (isAlive = true))
  viewer.on('close', () => clearInterval(ping))
}

/**
 * Executes a viewer's messages in their order: a command that saves the world must be written before the stop that
 * follows it.
 * @param execute executes one message
 * @param onFailure logs a failure, and returns the error for the viewer
 */
export function executeMessages(
  viewer: WebSocket,
  execute: (text: string) => Promise<void>,
  onFailure: (error: unknown) => { code: ErrorCode; message: string },
): void {
  let queue: Promise<void> = Promise.resolve()
  let queued = 0
  let queuedBytes = 0
  viewer.on('message', (data: Buffer) => {
    if (viewer.readyState !== viewer.OPEN) return
    if (queued >= MAX_QUEUED_MESSAGES || queuedBytes + data.length > MAX_QUEUED_BYTES)
      return sendFailure(viewer, data.toString(), {
        code: 'TOO_MANY_TRIES',
        message: 'Not done: too many earlier requests are still waiting.',
      })
    queued += 1
    queuedBytes += data.length
    queue = queue
      .then(async () => {
        // Messages received before the connection was ended are not executed.
        if (viewer.readyState !== viewer.OPEN) return
        await execute(data.toString())
        const ref = refOf(data.toString())
        if (ref !== undefined) sendFrame(viewer, { type: 'answer', ref })
      })
      .catch((error: unknown) => sendFailure(viewer, data.toString(), onFailure(error)))
      .finally(() => {
        queued -= 1
        queuedBytes -= data.length
      })
  })
}

/** Answers a request that wants a response, and writes a notice for any other. */
function sendFailure(viewer: WebSocket, request: string, failure: { code: ErrorCode; message: string }): void {
  const ref = refOf(request)
  if (ref === undefined) sendFrame(viewer, { type: 'system', content: `[System] ${failure.message}` })
  else sendFrame(viewer, { type: 'answer', ref, failure })
}

function sendFrame(viewer: WebSocket, frame: ConsoleFrame | ConsoleAnswer): void {
  if (viewer.readyState === viewer.OPEN) viewer.send(JSON.stringify(frame))
}
