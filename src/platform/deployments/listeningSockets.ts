import { readdir, readFile, readlink } from 'node:fs/promises'

/** Set for every instance; its own processes inherit it. */
export const INSTANCE_VARIABLE = 'QUARTERDECK_INSTANCE'

/** Whose a listening socket is. `unknown`: the processes that may hold it are hidden from this user. */
export type Holder =
  { kind: 'instance'; podName: string } | { kind: 'program'; name: string; pid: number } | { kind: 'unknown' }

export interface Listening {
  /** Who listens on a port of this machine; undefined: nobody. */
  holderOf(port: number): Promise<Holder | undefined>
}

interface ListeningSocket {
  port: number
  inode: string
}

/** proc_net_tcp(5): LISTEN. A UDP socket without a peer is in what TCP calls CLOSE. */
const LISTEN = '0A'
const UNCONNECTED = '07'
/** How many links are read at a time. */
const BATCH = 128

/**
 * Reads who listens where, as the kernel tells in /proc. An instance listens where the platform and players reach it: sockets of
 * one other address are left out.
 * @returns a function that answers what is so at this moment; undefined where there is no /proc.
 */
export function createListeningSockets(): () => Promise<Listening | undefined> {
  /** By inode, which is the socket's own for as long as it is open. Reading all processes takes its time. */
  let known = new Map<string, Holder>()

  return async () => {
    const sockets = await readSockets()
    if (!sockets) return undefined
    const open = new Set(sockets.map(({ inode }) => inode))
    known = new Map([...known].filter(([inode]) => open.has(inode)))
    return {
      async holderOf(port) {
        const socket = sockets.find((candidate) => candidate.port === port)
        if (!socket) return undefined
        const holder = known.get(socket.inode) ?? (await findHolder(socket.inode)) ?? { kind: 'unknown' }
        known.set(socket.inode, holder)
        return holder
      },
    }
  }
}

/** TCP first: where both are there, players of a Java server come by TCP. */
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

/** Whether an address is every one of this machine, or its loopback. In hexadecimal, each 32 bits in the order of the machine (little-endian). */
function isReached(address: string): boolean {
  return (
    /^0+$/.test(address) ||
    /^[\dA-F]{6}7F$/.test(address) ||
    /^0{16}FFFF0000[\dA-F]{6}7F$/.test(address) ||
    /^0{24}01000000$/.test(address)
  )
}

async function findHolder(inode: string): Promise<Holder | undefined> {
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

/** The instance that a process is part of, by its environment or, where it cleared that, by that of the processes that started it. */
async function instanceOf(pid: string): Promise<string | undefined> {
  for (let at = pid; Number(at) > 1;) {
    const environment = await readFile(`/proc/${at}/environ`, 'utf8').catch(() => '')
    const value = environment
      .split('\0')
      .find((entry) => entry.startsWith(`${INSTANCE_VARIABLE}=`))
      ?.slice(INSTANCE_VARIABLE.length + 1)
    if (value !== undefined) return value
    const stat = await readFile(`/proc/${at}/stat`, 'utf8').catch(() => '')
    // The program's name, in parentheses, may hold anything; after it come the state and the parent.
    at = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '0'
  }
  return undefined
}
