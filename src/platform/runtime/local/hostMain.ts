import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { acquireLock } from '../../processLock'
import { onLines, sendLine, type HostRequest } from './hostProtocol'
import { InstanceHost } from './instanceHost'

/** With nothing to run and nobody connected, the host ends after this. */
const IDLE_MS = 60_000

/** The program of the host process: `hostMain <directory> <socket>`. */
function main(directory: string, socketPath: string): void {
  if (!acquireLock(`${directory}.lock`)) process.exit(0)
  // A terminal that closes, or Ctrl-C in it, is meant for the platform.
  for (const signal of ['SIGHUP', 'SIGINT'] as const) process.on(signal, () => undefined)
  process.on('SIGTERM', () => void host.shutdown().then(() => process.exit(0)))

  const host = new InstanceHost(directory)
  const clients = new Set<Socket>()
  host.watch(() => {
    for (const client of clients) sendLine(client, { event: 'changed' })
  })

  // The lock is ours, so a socket file that is there belongs to nobody.
  rmSync(socketPath, { force: true })
  const server = createServer((socket) => {
    clients.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => clients.delete(socket))
    onLines(socket, (message) => void answer(host, socket, message as HostRequest))
  })
  server.listen(socketPath, () => chmodSync(socketPath, 0o600))
  setInterval(() => {
    if (clients.size === 0 && !host.isBusy) process.exit(0)
  }, IDLE_MS)
}

async function answer(host: InstanceHost, socket: Socket, { id, call, args }: HostRequest): Promise<void> {
  try {
    const method = host[call].bind(host) as (...args: unknown[]) => unknown
    sendLine(socket, { id, result: await method(...args) })
    if (call === 'shutdown') endWhenRead(socket)
  } catch (error) {
    sendLine(socket, { id, error: error instanceof Error ? error.message : String(error) })
  }
}

/** Who asked for the end hears that it came: an exit at once could take the answer along. */
function endWhenRead(socket: Socket): void {
  socket.once('close', () => process.exit(0))
  setTimeout(() => process.exit(0), 2000)
}

const [directory, socketPath] = process.argv.slice(2)
if (directory && socketPath) main(directory, socketPath)
