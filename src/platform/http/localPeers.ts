import { createReadStream } from 'node:fs'
import type { Server } from 'node:http'
import { isIPv4, Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { FastifyBaseLogger } from 'fastify'
import { plainAddress, type TrustedProxies } from '../accounts/clientAddress'
import { groupsOf } from '../accounts/limits'
import { isDeploymentUser } from '../share/ownership'
import { createSharedRead } from '../share/sharedRead'

/** Of one table of connections: about 28,000 rows, so that an instance with many connections cannot keep the platform busy. In bytes. */
const MOST_READ = 4 * 2 ** 20
/**
 * proc_net_tcp(5), a row of state 01, ESTABLISHED: both ends and the user. Only these count: a socket that its program has closed has
 * no user any more and is told as root's, in FIN_WAIT and TIME_WAIT.
 */
const ESTABLISHED =
  /^ *\d+: ([\dA-F]{8,32}:[\dA-F]{4} [\dA-F]{8,32}:[\dA-F]{4}) 01 [\dA-F]{8}:[\dA-F]{8} [\dA-F]{2}:[\dA-F]{8} [\dA-F]{8} {1,20}(\d{1,10}) /gm

const OF_THIS_MACHINE = ' of this machine'

/** Whether this is how `nameLocalPeers` names an instance, or who may be one. */
export const isInstance = (address: string): boolean => address.endsWith(OF_THIS_MACHINE)

/**
 * Tells connections of instances from those of other programs of this machine, whose addresses they share, by the user id that the kernel
 * notes. For everything that comes after, the address of an instance's connection is `user 1900000003 of this machine`: no trusted
 * proxy's, and with limits of its own. A connection from this machine is shown to the server's listeners when its user is known.
 *
 * Whose user cannot be found is no proxy either: an instance can bring that about (by ending its half of the connection at once, or with
 * more connections than are read), an honest proxy cannot. That costs its clients their own limits while it lasts, nothing else.
 */
export function nameLocalPeers(server: Server, log: Pick<FastifyBaseLogger, 'warn'>): void {
  const emit = server.emit.bind(server) as (event: string | symbol, ...parameters: unknown[]) => boolean
  let isTold = false
  server.emit = (event: string | symbol, ...parameters: unknown[]) => {
    const [socket] = parameters
    if (event !== 'connection' || !(socket instanceof Socket) || !isOfThisMachine(socket.remoteAddress))
      return emit(event, ...parameters)
    // A reset meanwhile is told by the close as well.
    const ignore = () => undefined
    socket.on('error', ignore)
    void userOf(socket).then((uid) => {
      socket.off('error', ignore)
      if (socket.destroyed) return
      if (uid === undefined && !isTold) {
        isTold = true
        log.warn(
          { address: socket.remoteAddress },
          'the user of a connection from this machine could not be found: such ones are no trusted proxy',
        )
      }
      const name = uid === undefined ? `unknown user${OF_THIS_MACHINE}` : `user ${uid}${OF_THIS_MACHINE}`
      if (uid === undefined || isDeploymentUser(uid)) Object.defineProperty(socket, 'remoteAddress', { value: name })
      emit('connection', socket)
    })
    return true
  }
}

/** Whether a connection from this address, or a client of a proxy with it, may be an instance, which has the machine's network. */
export function isOfThisMachine(address: string | undefined): boolean {
  if (address === undefined) return false
  const plain = plainAddress(address)
  if (plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'))) return true
  return ownAddresses().includes(plain)
}

const ownAddresses = () =>
  Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address))

/** For where instances cannot be told from other programs of this machine. */
export function warnOfLocalProxies(proxies: TrustedProxies, log: Pick<FastifyBaseLogger, 'warn'>): void {
  const address = ownAddresses().find(proxies.includes)
  if (address === undefined) return
  log.warn(
    { address },
    'QUARTERDECK_TRUSTED_PROXIES names an address of this machine, from which instances can connect as well: they may claim any address. See "Isolation" in the README',
  )
}

/** @returns the user who has the other end of a connection open; undefined where the kernel's tables do not tell. */
async function userOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): Promise<number | undefined> {
  if (remoteAddress === undefined || remotePort === undefined || localAddress === undefined || localPort === undefined)
    return undefined
  const [peer, own] = [plainAddress(remoteAddress), plainAddress(localAddress)]
  const users = await readUsers()
  const rowOf = (write: (address: string) => string) =>
    `${write(peer)}:${hexOf(remotePort, 4)} ${write(own)}:${hexOf(localPort, 4)}`
  if (!isIPv4(peer)) return users.get(rowOf(writtenIPv6))
  // A program may reach an IPv4 address by a socket of the other family.
  return (
    users.get(rowOf(writtenIPv4)) ?? users.get(rowOf((address) => `0000000000000000FFFF0000${writtenIPv4(address)}`))
  )
}

/** By both ends of a connection, as the kernel writes them. */
const readUsers = createSharedRead(
  async () => new Map((await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable))).flat()),
)

async function readTable(path: string): Promise<[string, number][]> {
  const users: [string, number][] = []
  let text = ''
  try {
    // Piece by piece, so that others get their turn meanwhile.
    for await (const piece of createReadStream(path, { encoding: 'latin1', end: MOST_READ - 1 })) {
      text += piece
      const end = text.lastIndexOf('\n') + 1
      for (const [, ends = '', uid] of text.slice(0, end).matchAll(ESTABLISHED)) users.push([ends, Number(uid)])
      text = text.slice(end)
    }
  } catch {
    // Without the table of this family, or the rest of it, users are not found.
  }
  return users
}

const hexOf = (value: number, length: number) => value.toString(16).toUpperCase().padStart(length, '0')

/** The kernel writes each 32 bits of an address as a number of the machine (little-endian). */
const writtenIPv4 = (address: string) =>
  address
    .split('.')
    .reverse()
    .map((byte) => hexOf(Number(byte), 2))
    .join('')

function writtenIPv6(address: string): string {
  const bytes = groupsOf(address)
    .map((group) => group.padStart(4, '0'))
    .join('')
    .toUpperCase()
  return bytes.replace(/(..)(..)(..)(..)/g, '$4$3$2$1')
}
