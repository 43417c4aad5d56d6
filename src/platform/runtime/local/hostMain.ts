import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { acquireLock } from '../../processLock'
import { BackPressure } from './backPressure'
import type { ConsoleLine } from '../runtime'
import {
  IN_PIECES,
  linesEvents,
  onLines,
  piecesOf,
  sendLine,
  type CallName,
  type HostCalls,
  type HostRequest,
} from './hostProtocol'
import { InstanceHost } from './instanceHost'

/** With nothing to run and nobody connected, the host ends after this. */
const IDLE_MS = 60_000

/** With this much not yet taken by a platform that stands still, it is told no more lines for now. In bytes. */
const HELD_LIMIT = 24 * 2 ** 20

/** With this much not yet taken, instances that print more wait for a moment. In bytes. */
const BUSY_LIMIT = 2 ** 17

/** What a connection is told. */
interface Followed {
  /** For each pod the number of its next line. */
  next: Map<string, number>
  backPressure: BackPressure
}

/** The program of the host process: `hostMain <directory> <socket>`. */
function main(directory: string, socketPath: string): void {
  if (!acquireLock(`${directory}.lock`)) process.exit(0)
  // A terminal that closes, or Ctrl-C in it, is meant for the platform.
  for (const signal of ['SIGHUP', 'SIGINT'] as const) process.on(signal, () => undefined)
  // The next host could only stop what runs: whatever an instance causes, the others run on.
  process.on('uncaughtException', (error) => console.error('An error was not handled; the host goes on:', error))
  process.on('SIGTERM', () => void host.shutdown().then(() => process.exit(0)))

  const clients = new Map<Socket, Followed>()
  const host = new InstanceHost(directory, (podName) => {
    for (const [client, followed] of clients) tellLines(host, client, followed, podName)
  })
  host.watch(() => {
    for (const client of clients.keys()) sendLine(client, { event: 'changed' })
  })

  // The lock is ours, so a socket file that is there belongs to nobody.
  rmSync(socketPath, { force: true })
  const server = createServer((socket) => {
    const followed: Followed = {
      next: new Map(),
      backPressure: new BackPressure((podName, isHeld) => host.holdOutput(podName, isHeld)),
    }
    clients.set(socket, followed)
    socket.on('drain', () => {
      followed.backPressure.drained()
      for (const podName of followed.next.keys()) tellLines(host, socket, followed, podName)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clients.delete(socket)
      followed.backPressure.close()
    })
    onLines(socket, (message) => void answer(host, followed, socket, message as HostRequest))
  })
  server.on('error', (error) => {
    // Without a descriptor for it a connection cannot even be refused: that must not end what runs.
    console.error(server.listening ? 'A connection could not be accepted:' : 'The host cannot listen:', error)
    if (!server.listening) process.exit(1)
  })
  server.listen(socketPath, () => chmodSync(socketPath, 0o600))
  setInterval(() => {
    if (clients.size === 0 && !host.isBusy) process.exit(0)
  }, IDLE_MS)
}

/** Tells what a connection has not heard of yet. One that has no room for it hears of it later, from where it stands. */
function tellLines(host: InstanceHost, client: Socket, followed: Followed, podName: string): void {
  const next = followed.next.get(podName)
  if (next === undefined || client.writableLength > HELD_LIMIT) return
  const lines = host.since(podName, next)
  const last = lines.at(-1)
  if (!last) return
  followed.next.set(podName, last.seq + 1)
  for (const event of linesEvents(podName, lines)) sendLine(client, event)
  if (client.writableLength > BUSY_LIMIT) followed.backPressure.hold(podName)
}

async function answer(
  host: InstanceHost,
  followed: Followed,
  socket: Socket,
  { id, call, args }: HostRequest,
): Promise<void> {
  try {
    const result = await resultOf(host, followed, call, args)
    const pieces = args.at(-1) === IN_PIECES ? piecesOf(result as ConsoleLine[]) : []
    const last = pieces.pop()
    for (const piece of pieces) sendLine(socket, { id, piece })
    sendLine(socket, { id, result: last ?? result })
    if (call === 'shutdown') endWhenRead(socket)
  } catch (error) {
    sendLine(socket, { id, error: error instanceof Error ? error.message : String(error) })
  }
}

function resultOf(host: InstanceHost, followed: Followed, call: CallName, args: unknown[]): unknown {
  if (call === 'follow') {
    const [podName, since] = args as Parameters<HostCalls['follow']>
    const lines = host.since(podName, since)
    followed.next.set(podName, (lines.at(-1)?.seq ?? since - 1) + 1)
    return lines
  }
  if (call === 'unfollow') return followed.next.delete(String(args[0]))
  const method = host[call].bind(host) as (...args: unknown[]) => unknown
  return method(...args)
}

/** Who asked for the end hears that it came: an exit at once could take the answer along. */
function endWhenRead(socket: Socket): void {
  socket.once('close', () => process.exit(0))
  setTimeout(() => process.exit(0), 2000)
}

const [directory, socketPath] = process.argv.slice(2)
if (directory && socketPath) main(directory, socketPath)
