import '../../noDebugger'
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { takeLock } from '../../processLock'
import { BackPressure } from './backPressure'
import type { ConsoleLine } from '../runtime'
import {
  IN_PIECES,
  linesEvents,
  onMessages,
  piecesOf,
  sendLine,
  type CallName,
  type HostCalls,
  type HostRequest,
} from './hostProtocol'
import { InstanceHost } from './instanceHost'

/** Without instances and connections, the host exits after this time. */
const IDLE_MS = 60_000

/** Bytes buffered for a stalled platform above which it gets no more lines for now. */
const MAX_UNSENT_BYTES = 24 * 2 ** 20

/** Bytes buffered for a platform above which instances that print are paused. */
const PAUSE_ABOVE_BYTES = 2 ** 17

/** Subscriptions of a connection. */
interface Subscriptions {
  /** Number of the next line, by pod. */
  next: Map<string, number>
  backPressure: BackPressure
}

/** The program of the host process: `hostMain <directory> <socket>`. */
function main(directory: string, socketPath: string): void {
  if (!takeLock(`${directory}.lock`)) process.exit(0)
  // The terminal's SIGHUP and SIGINT (Ctrl-C) are meant for the platform.
  for (const signal of ['SIGHUP', 'SIGINT'] as const) process.on(signal, () => undefined)
  // On a full disk the log loses lines. Without a listener, each error would be logged, and fail again, without end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  // The next host could only stop the instances, so an error caused by one must not end the others.
  process.on('uncaughtException', (error) => console.error('Unhandled error; the host continues:', error))
  process.on('SIGTERM', () => void host.shutdown().then(() => process.exit(0)))

  const clients = new Map<Socket, Subscriptions>()
  const host = new InstanceHost(directory, (podName) => {
    for (const [client, subscriptions] of clients) sendNewLines(host, client, subscriptions, podName)
  })
  host.watch(() => {
    for (const client of clients.keys()) sendLine(client, { event: 'changed' })
  })

  // We hold the lock, so an existing socket file is stale.
  rmSync(socketPath, { force: true })
  const server = createServer((socket) => {
    const subscriptions: Subscriptions = {
      next: new Map(),
      backPressure: new BackPressure((podName, isPaused) => host.setOutputPaused(podName, isPaused)),
    }
    clients.set(socket, subscriptions)
    socket.on('drain', () => {
      subscriptions.backPressure.drained()
      for (const podName of subscriptions.next.keys()) sendNewLines(host, socket, subscriptions, podName)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clients.delete(socket)
      subscriptions.backPressure.close()
    })
    onMessages(socket, (message) => void respond(host, subscriptions, socket, message as HostRequest))
  })
  server.on('error', (error) => {
    // Without a descriptor the host cannot even reject a connection. That must not end the instances.
    console.error(server.listening ? 'A connection could not be accepted:' : 'The host cannot listen:', error)
    if (!server.listening) process.exit(1)
  })
  server.listen(socketPath, () => chmodSync(socketPath, 0o600))
  setInterval(() => {
    if (clients.size === 0 && !host.isBusy) process.exit(0)
  }, IDLE_MS)
}

/** Sends unsent lines to a connection. If its buffer is full, they are sent after it has drained. */
function sendNewLines(host: InstanceHost, client: Socket, subscriptions: Subscriptions, podName: string): void {
  const next = subscriptions.next.get(podName)
  if (next === undefined || client.writableLength > MAX_UNSENT_BYTES) return
  const lines = host.since(podName, next)
  const last = lines.at(-1)
  if (!last) return
  subscriptions.next.set(podName, last.seq + 1)
  for (const event of linesEvents(podName, lines)) sendLine(client, event)
  if (client.writableLength > PAUSE_ABOVE_BYTES) subscriptions.backPressure.pauseOutput(podName)
}

async function respond(
  host: InstanceHost,
  subscriptions: Subscriptions,
  socket: Socket,
  { id, call, args }: HostRequest,
): Promise<void> {
  try {
    const result = await resultOf(host, subscriptions, call, args)
    // Not for other calls: a command may be that word.
    const isInPieces = (call === 'history' || call === 'follow') && args.at(-1) === IN_PIECES
    const pieces = isInPieces ? piecesOf(result as ConsoleLine[]) : []
    const last = pieces.pop()
    for (const piece of pieces) sendLine(socket, { id, piece })
    sendLine(socket, { id, result: last ?? result })
    if (call === 'shutdown') exitAfterResponse(socket)
  } catch (error) {
    sendLine(socket, { id, error: error instanceof Error ? error.message : String(error) })
  }
}

function resultOf(host: InstanceHost, subscriptions: Subscriptions, call: CallName, args: unknown[]): unknown {
  if (call === 'follow') {
    const [podName, since] = args as Parameters<HostCalls['follow']>
    const lines = host.since(podName, since)
    subscriptions.next.set(podName, (lines.at(-1)?.seq ?? since - 1) + 1)
    return lines
  }
  if (call === 'unfollow') return subscriptions.next.delete(String(args[0]))
  const method = host[call].bind(host) as (...args: unknown[]) => unknown
  return method(...args)
}

/** Exits after the client has closed the connection: an immediate exit could lose the response. */
function exitAfterResponse(socket: Socket): void {
  socket.once('close', () => process.exit(0))
  setTimeout(() => process.exit(0), 2000)
}

const [directory, socketPath] = process.argv.slice(2)
if (directory && socketPath) main(directory, socketPath)
