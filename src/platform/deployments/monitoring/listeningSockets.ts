import { readdir, readFile, readlink } from 'node:fs/promises'
import { consoleText } from '../../runtime/consoleText'
import { findRunOfProcess } from '../../runtime/processes'
import type { RuntimeInstance } from '../../runtime/runtime'
import { readSocketTable, type SocketTable } from '../../socketTables'

/**
 * The owner of a listening socket. `unknown`: this user may not see the processes that could hold it, or there are too
 * many. `unsure`: it is not known whether a socket listens, because there are too many.
 */
export type PortOwner =
  | { kind: 'instance'; podName: string }
  | { kind: 'program'; name: string; pid: number }
  | { kind: 'unknown' }
  | { kind: 'unsure' }

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
const UNKNOWN = { kind: 'unknown' } as const
/** Limit of concurrent readlink calls. */
const BATCH = 128
/** Time limit of a search through the open files of all processes: an instance may open many. */
const SEARCH_MS = 2000
/** Time between two searches for owners that were not found: the machine may have been busy. */
const RETRY_MS = 10_000
/** By index of the table. TCP first: on a port with both, players of a Java server use TCP. */
const TABLES = [
  ['tcp', LISTEN],
  ['tcp6', LISTEN],
  ['udp', UNCONNECTED],
  ['udp6', UNCONNECTED],
] as const satisfies [SocketTable, string][]

/**
 * Creates a reader of the listening sockets in /proc. Includes only sockets that the platform and players can reach:
 * those bound to all addresses or to the loopback.
 * @param listRuns the runs of all instances, with their processes
 * @returns a function that takes a snapshot; undefined where there is no /proc
 */
export function createListeningSockets(
  listRuns: () => Promise<RuntimeInstance[]>,
): () => Promise<Listening | undefined> {
  /** Cache by inode, which is unique while the socket is open, because scanning all processes is slow. */
  let known = new Map<string, PortOwner>()
  /** Inodes whose owner was not found, and when the last of these searches ended, on the clock of `performance.now`. */
  let failed = new Set<string>()
  let failedAt = -Infinity

  return async () => {
    const tables = await readTables()
    if (tables[0]?.end === 'missing') return undefined
    const sockets = tables.flatMap((table) => table.sockets)
    const isWhole = tables.every(({ end }) => end !== 'cut')
    const open = new Set(sockets.map(({ inode }) => inode))
    known = new Map([...known].filter(([inode]) => open.has(inode)))
    failed = new Set([...failed].filter((inode) => open.has(inode)))
    return {
      async ownerOf(port) {
        const socket = sockets.find((candidate) => candidate.port === port)
        if (!socket) return isWhole ? undefined : { kind: 'unsure' }
        const { inode } = socket
        const cached = known.get(inode)
        if (cached) return cached
        if (failed.has(inode) && performance.now() < failedAt + RETRY_MS) return UNKNOWN
        const runs = await listRuns().catch(() => undefined)
        const pid = await findHolder(inode, runs ?? [])
        if (pid === undefined) {
          failed.add(inode)
          failedAt = performance.now()
        }
        const owner = pid === undefined ? undefined : await describeProcess(pid, runs)
        if (owner) known.set(inode, owner)
        return owner ?? UNKNOWN
      },
    }
  }

  /** @returns undefined while it is not known which processes are those of instances */
  async function describeProcess(pid: number, runs?: RuntimeInstance[]): Promise<PortOwner | undefined> {
    const run = runs && findRunOfProcess(pid, runs)
    if (run) return { kind: 'instance', podName: run.podName }
    if (!runs || runs.some(({ state, process: first }) => state !== 'EXITED' && !first)) return undefined
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
    return { kind: 'program', name: consoleText(name.trim()), pid }
  }
}

/** In the order of `TABLES`. */
function readTables() {
  return Promise.all(
    TABLES.map(async ([table, wantedState]) => {
      const sockets: ListeningSocket[] = []
      const end = await readSocketTable(table, (rows) => {
        for (const row of rows.split('\n')) sockets.push(...socketIn(row, wantedState))
      })
      return { sockets, end }
    }),
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

/**
 * Finds a process that has a socket open: first among those that lead a run, then among the youngest ones.
 * @returns undefined if none is visible, or there are too many files
 */
async function findHolder(inode: string, runs: RuntimeInstance[]): Promise<number | undefined> {
  const link = `socket:[${inode}]`
  const deadline = performance.now() + SEARCH_MS
  const leaders = runs.flatMap((run) => (run.process ? [String(run.process.pid)] : []))
  const others = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).reverse()
  for (const pid of new Set([...leaders, ...others])) {
    if (performance.now() > deadline) return undefined
    if (await hasOpen(pid, link, deadline)) return Number(pid)
  }
  return undefined
}

async function hasOpen(pid: string, link: string, deadline: number): Promise<boolean> {
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => [])
  for (let from = 0; from < descriptors.length && performance.now() < deadline; from += BATCH) {
    const links = await Promise.all(
      descriptors
        .slice(from, from + BATCH)
        .map((descriptor) => readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '')),
    )
    if (links.includes(link)) return true
  }
  return false
}
