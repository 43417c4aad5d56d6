import { readdir, readFile, readlink } from 'node:fs/promises'

/** Set in the environment of every instance; its child processes inherit it. */
export const INSTANCE_VARIABLE = 'QUARTERDECK_INSTANCE'

/** The owner of a listening socket. `unknown`: this user may not see the processes that could hold it. */
export type PortOwner =
  { kind: 'instance'; podName: string } | { kind: 'program'; name: string; pid: number } | { kind: 'unknown' }

export interface Listening {
  /** The owner of a port of this machine; undefined if no socket listens on it. */
  ownerOf(port: number): Promise<PortOwner | undefined>
}

interface ListeningSocket {
  port: number
  inode: string
}

/** proc_net_tcp(5). A UDP socket without a peer has the state that TCP calls CLOSE. */
const LISTEN = '0A'
const UNCONNECTED = '07'
/** Limit of concurrent readlink calls. */
const BATCH = 128

/**
 * Creates a reader of the listening sockets in /proc. Includes only sockets that the platform and players can reach:
 * those bound to all addresses or to the loopback.
 * @returns a function that takes a snapshot; undefined where there is no /proc
 */
export function createListeningSockets(): () => Promise<Listening | undefined> {
  /** Cache by inode, which is unique while the socket is open, because scanning all processes is slow. */
  let known = new Map<string, PortOwner>()

  return async () => {
    const sockets = await readSockets()
    if (!sockets) return undefined
    const open = new Set(sockets.map(({ inode }) => inode))
    known = new Map([...known].filter(([inode]) => open.has(inode)))
    return {
      async ownerOf(port) {
        const socket = sockets.find((candidate) => candidate.port === port)
        if (!socket) return undefined
        const owner = known.get(socket.inode) ?? (await findOwner(socket.inode)) ?? { kind: 'unknown' }
        known.set(socket.inode, owner)
        return owner
      },
    }
  }
}

/** TCP first: on a port with both, players of a Java server use TCP. */
async function readSockets(): Promise<ListeningSocket[] | undefined> {
  const tables = await Promise.all(
    ['tcp', 'tcp6', 'udp', 'udp6'].map((table) => readFile(`/proc/net/${table}`, 'utf8').catch(() => undefined)),
  )
  if (tables[0] === undefined) return undefined
  return tables.flatMap((text = '', table) =>
    text
      .split('\n')
      .slice(1)
      .flatMap((line) => socketIn(line, table < 2 ? LISTEN : UNCONNECTED)),
  )
}

function socketIn(line: string, wantedState: string): ListeningSocket[] {
  const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
  const [address = '', port = ''] = local.split(':')
  return state === wantedState && isReached(address) ? [{ port: parseInt(port, 16), inode }] : []
}

/** Wildcard and loopback addresses. /proc prints each 32 bits in the machine's byte order (little-endian). */
function isReached(address: string): boolean {
  return (
    /^0+$/.test(address) ||
    /^[\dA-F]{6}7F$/.test(address) ||
    /^0{16}FFFF0000[\dA-F]{6}7F$/.test(address) ||
    /^0{24}01000000$/.test(address)
  )
}

async function findOwner(inode: string): Promise<PortOwner | undefined> {
  const link = `socket:[${inode}]`
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid) || !(await hasOpen(pid, link))) continue
    const podName = await instanceOf(pid)
    if (podName !== undefined) return { kind: 'instance', podName }
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
    return { kind: 'program', name: name.trim(), pid: Number(pid) }
  }
  return undefined
}

async function hasOpen(pid: string, link: string): Promise<boolean> {
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => [])
  for (let from = 0; from < descriptors.length; from += BATCH) {
    const links = await Promise.all(
      descriptors
        .slice(from, from + BATCH)
        .map((descriptor) => readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '')),
    )
    if (links.includes(link)) return true
  }
  return false
}

/** The instance of a process, from its environment, or from its ancestors' if it cleared its own. */
async function instanceOf(pid: string): Promise<string | undefined> {
  for (let at = pid; Number(at) > 1;) {
    const environment = await readFile(`/proc/${at}/environ`, 'utf8').catch(() => '')
    const value = environment
      .split('\0')
      .find((entry) => entry.startsWith(`${INSTANCE_VARIABLE}=`))
      ?.slice(INSTANCE_VARIABLE.length + 1)
    if (value !== undefined) return value
    const stat = await readFile(`/proc/${at}/stat`, 'utf8').catch(() => '')
    // The program's name is in parentheses and may contain any character. The state and the parent follow it.
    at = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '0'
  }
  return undefined
}
