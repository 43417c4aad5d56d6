import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { endianness } from 'node:os'
import { errorCodeOf } from '../errors'
import { startTimeOf } from '../processLock'
import type { RunProcess } from './runtime'

/** Clock ticks per second in /proc (proc(5)): 100 on every Linux that Node.js supports. */
const TICKS_PER_SECOND = 100

/** Entry of the auxiliary vector (getauxval(3)) with the page size, which is 4, 16 or 64 KiB. */
const AT_PAGESZ = 6n

/** The page size in bytes from the auxiliary vector of a 64-bit process. */
export function pageBytesOf(auxv: Buffer): number {
  for (let at = 0; at + 16 <= auxv.length; at += 16) {
    if (readWord(auxv, at) === AT_PAGESZ) return Number(readWord(auxv, at + 8))
  }
  return 4096
}

const readWord = (bytes: Buffer, at: number) =>
  endianness() === 'LE' ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at)

const PAGE_BYTES = pageBytesOf(existsSync('/proc/self/auxv') ? readFileSync('/proc/self/auxv') : Buffer.alloc(0))

interface ProcessStat {
  parent: number
  session: number
  cpuMs: number
  memoryBytes: number
}

function readStat(pid: number | string): ProcessStat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The second field is the program's name in parentheses, with any characters; count fields after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0)
  return {
    parent: Number(fields[1]),
    session: Number(fields[3]),
    cpuMs: (ticks * 1000) / TICKS_PER_SECOND,
    memoryBytes: Number(fields[21]) * PAGE_BYTES,
  }
}

export interface ProcessUsage {
  cpuMs: number
  memoryBytes: number
}

/** Usage by session. An instance leads its own session, so its children are included. */
export function usageBySession(): Map<number, ProcessUsage> {
  return usageBy((_pid, { session }) => session)
}

/** Usage by PID namespace, with keys as in `/proc/<pid>/ns/pid`. */
export function usageByNamespace(): Map<string, ProcessUsage> {
  return usageBy((pid) => pidNamespaceOf(pid))
}

/** Key of a process's PID namespace; undefined if it has exited or may not be read. */
export function pidNamespaceOf(pid: number | string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    return undefined
  }
}

/** Kills every process of a PID namespace but that of this process. Ignores those that it may not kill. */
export function killNamespace(namespace: string): void {
  if (namespace === pidNamespaceOf('self')) return
  for (const pid of processIds()) {
    if (pidNamespaceOf(pid) !== namespace) continue
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch (error) {
      if (!['ESRCH', 'EPERM'].includes(errorCodeOf(error) ?? '')) throw error
    }
  }
}

/**
 * Finds the run that a process belongs to: by the PID namespace of its container, otherwise by its session and those of
 * its ancestors. A process can create new namespaces and sessions, but cannot enter those of another run. Values that a
 * process can set itself, such as its environment, are not used.
 */
export function findRunOfProcess<Run extends { process?: RunProcess | undefined }>(
  pid: number,
  runs: readonly Run[],
): Run | undefined {
  const known = runs.filter((run) => run.process && holdsPid(run.process))
  const namespace = pidNamespaceOf(pid)
  if (namespace !== undefined && namespace !== pidNamespaceOf('self')) {
    const found = known.find((run) => run.process && pidNamespaceOf(run.process.pid) === namespace)
    if (found) return found
  }
  let ancestor = pid
  while (ancestor > 1) {
    const stat = readStat(ancestor)
    const found = known.find((run) => run.process?.pid === ancestor || run.process?.pid === stat?.session)
    if (found || !stat) return found
    ancestor = stat.parent
  }
  return undefined
}

/** Whether no other process has got the pid of this one: the kernel does not reuse it as long as its session exists. */
function holdsPid({ pid, startTime }: RunProcess): boolean {
  return startTime === undefined || ['', startTime].includes(startTimeOf(pid))
}

/** Returns an empty list without /proc. */
export function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** Returns an empty map without /proc. */
function usageBy<Key>(keyOf: (pid: string, stat: ProcessStat) => Key | undefined): Map<Key, ProcessUsage> {
  const usage = new Map<Key, ProcessUsage>()
  for (const pid of processIds()) {
    const stat = readStat(pid)
    const key = stat && keyOf(pid, stat)
    if (!stat || key === undefined) continue
    const sum = usage.get(key) ?? { cpuMs: 0, memoryBytes: 0 }
    usage.set(key, { cpuMs: sum.cpuMs + stat.cpuMs, memoryBytes: sum.memoryBytes + stat.memoryBytes })
  }
  return usage
}

/**
 * Signals every process of the group that a process leads. Ignores a group that has ended.
 * @returns false if the signal is not permitted: the program changed its user (`sudo -u mc java …`).
 */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'ESRCH') return true
    if (code === 'EPERM') return false
    throw error
  }
}
