import type { Server } from 'node:http'
import { isIPv4, Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { FastifyBaseLogger } from 'fastify'
import { groupsOf, plainAddress, type TrustedProxies } from '../../accounts/clientAddress'
import { isDeploymentUser } from '../../share/ownership'
import { createSharedRead } from '../../concurrency/sharedRead'
import { readSocketTable, type SocketTable } from '../../socketTables'

/**
 * proc_net_tcp(5), a row in state 01 (ESTABLISHED): both endpoints and the user id. A socket that its program has
 * closed (FIN_WAIT, TIME_WAIT) is listed as root's.
 */
const ESTABLISHED =
  /^ *\d+: ([\dA-F]{8,32}:[\dA-F]{4} [\dA-F]{8,32}:[\dA-F]{4}) 01 [\dA-F]{8}:[\dA-F]{8} [\dA-F]{2}:[\dA-F]{8} [\dA-F]{8} {1,20}(\d{1,10}) /gm

const LOCAL_SUFFIX = ' of this machine'
/** To read the addresses takes a quarter of a millisecond, and a request may name several proxies. */
const OWN_ADDRESSES_MAX_AGE_MS = 1000

/** Whether an address is one that `labelLocalConnections` gives to an instance or an unknown user. */
export const isInstanceAddress = (address: string): boolean => address.endsWith(LOCAL_SUFFIX)

/**
 * Distinguishes connections of instances from those of other programs on this machine, which share its addresses, by
 * the user id in the kernel's tables. An instance's connection gets the address `user 1900000003 of this machine` for
 * all later code: it is no trusted proxy and has limits of its own. The server's listeners get a local connection once
 * its user is known. A connection whose user is not found is no proxy either: an instance can cause that (by closing
 * its half at once, or with more connections than are read), an honest proxy cannot. It only costs the proxy's clients
 * their separate limits.
 */
export function labelLocalConnections(server: Server, log: Pick<FastifyBaseLogger, 'warn'>): void {
  const emit = server.emit.bind(server) as (event: string | symbol, ...args: unknown[]) => boolean
  let isLogged = false
  server.emit = (event: string | symbol, ...args: unknown[]) => {
    const [socket] = args
    if (event !== 'connection' || !(socket instanceof Socket) || !isOfThisMachine(socket.remoteAddress))
      return emit(event, ...args)
    // The close event also reports a reset.
    const ignore = () => undefined
    socket.on('error', ignore)
    void userIdOf(socket).then((uid) => {
      socket.off('error', ignore)
      if (socket.destroyed) return
      if (uid === undefined && !isLogged) {
        isLogged = true
        log.warn(
          { address: socket.remoteAddress },
          'cannot determine the user of a connection from this machine; it is not treated as a trusted proxy',
        )
      }
      const name = uid === undefined ? `unknown user${LOCAL_SUFFIX}` : `user ${uid}${LOCAL_SUFFIX}`
      if (uid === undefined || isDeploymentUser(uid)) Object.defineProperty(socket, 'remoteAddress', { value: name })
      emit('connection', socket)
    })
    return true
  }
}

/** Whether an address is one of this machine, whose network the instances share. */
export function isOfThisMachine(address: string | undefined): boolean {
  if (address === undefined) return false
  const plain = plainAddress(address)
  if (plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'))) return true
  return ownAddresses().includes(plain)
}

let own: { addresses: string[]; readAt: number } = { addresses: [], readAt: -Infinity }

function ownAddresses(): string[] {
  const now = performance.now()
  if (now - own.readAt > OWN_ADDRESSES_MAX_AGE_MS) {
    const addresses = Object.values(networkInterfaces()).flatMap((ofInterface = []) => ofInterface)
    own = { addresses: addresses.map(({ address }) => address), readAt: now }
  }
  return own.addresses
}

/** Warns when instances cannot be distinguished from other programs of this machine. */
export function warnOfLocalProxies(proxies: TrustedProxies, log: Pick<FastifyBaseLogger, 'warn'>): void {
  const address = ownAddresses().find(proxies.includes)
  if (address === undefined) return
  log.warn(
    { address },
    'QUARTERDECK_TRUSTED_PROXIES contains an address of this machine. Instances can connect from it and claim any client address. See "Isolation" in the README',
  )
}

/** @returns the user id of the client's socket; undefined if the tables do not contain it */
async function userIdOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): Promise<number | undefined> {
  if (remoteAddress === undefined || remotePort === undefined || localAddress === undefined || localPort === undefined)
    return undefined
  const [from, to] = [plainAddress(remoteAddress), plainAddress(localAddress)]
  const users = await readUsers()
  const rowOf = (format: (address: string) => string) =>
    `${format(from)}:${hexOf(remotePort, 4)} ${format(to)}:${hexOf(localPort, 4)}`
  if (!isIPv4(from)) return users.get(rowOf(kernelIPv6))
  // A program may reach an IPv4 address by an IPv6 socket.
  return users.get(rowOf(kernelIPv4)) ?? users.get(rowOf((address) => `0000000000000000FFFF0000${kernelIPv4(address)}`))
}

/** User ids by both ends of a connection in the kernel's notation. Users that cannot be read are unknown. */
const readUsers = createSharedRead(
  async () => new Map((await Promise.all((['tcp', 'tcp6'] as const).map(readTable))).flat()),
)

async function readTable(table: SocketTable): Promise<[string, number][]> {
  const users: [string, number][] = []
  await readSocketTable(table, (rows) => {
    for (const [, ends = '', uid] of rows.matchAll(ESTABLISHED)) users.push([ends, Number(uid)])
  })
  return users
}

const hexOf = (value: number, length: number) => value.toString(16).toUpperCase().padStart(length, '0')

/** The kernel prints each 32 bits of an address in the machine's byte order (little-endian). */
const kernelIPv4 = (address: string) =>
  address
    .split('.')
    .reverse()
    .map((byte) => hexOf(Number(byte), 2))
    .join('')

function kernelIPv6(address: string): string {
  const bytes = groupsOf(address)
    .map((group) => group.padStart(4, '0'))
    .join('')
    .toUpperCase()
  return bytes.replace(/(..)(..)(..)(..)/g, '$4$3$2$1')
}
