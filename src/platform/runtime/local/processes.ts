import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { endianness } from 'node:os'
import { errorCodeOf } from '../../errors'

/** Kernel clock ticks a second as /proc reports them (proc(5)): 100 on every Linux that Node.js runs on. */
const TICKS_PER_SECOND = 100

/** Of the auxiliary vector (getauxval(3)): the size of a page, which is 4, 16 or 64 KiB. */
const AT_PAGESZ = 6n

/** The size of a page that an auxiliary vector of a 64-bit process tells, in bytes. */
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
  session: number
  cpuMs: number
  memoryBytes: number
}

function readStat(pid: string): ProcessStat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The second field is the program's name in parentheses, and may hold anything; fields are counted after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0)
  return {
    session: Number(fields[3]),
    cpuMs: (ticks * 1000) / TICKS_PER_SECOND,
    memoryBytes: Number(fields[21]) * PAGE_BYTES,
  }
}

/** What several processes use together. */
export interface ProcessUsage {
  cpuMs: number
  memoryBytes: number
}

/** Adds up what the processes of each session use. An instance leads a session of its own, so its children count too. */
export function usageBySession(): Map<number, ProcessUsage> {
  return usageBy((_pid, { session }) => session)
}

/** Adds up what the processes of each PID namespace use, named as `/proc/<pid>/ns/pid` names it. */
export function usageByNamespace(): Map<string, ProcessUsage> {
  return usageBy((pid) => pidNamespaceOf(pid))
}

/** Names the PID namespace of a process; undefined where it is gone or may not be asked. */
export function pidNamespaceOf(pid: number | string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    return undefined
  }
}

/** Empty where there is no /proc. */
function usageBy<Key>(keyOf: (pid: string, stat: ProcessStat) => Key | undefined): Map<Key, ProcessUsage> {
  const usage = new Map<Key, ProcessUsage>()
  let pids: string[] = []
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return usage
  }
  for (const pid of pids) {
    const stat = readStat(pid)
    const key = stat && keyOf(pid, stat)
    if (!stat || key === undefined) continue
    const sum = usage.get(key) ?? { cpuMs: 0, memoryBytes: 0 }
    usage.set(key, { cpuMs: sum.cpuMs + stat.cpuMs, memoryBytes: sum.memoryBytes + stat.memoryBytes })
  }
  return usage
}

/**
 * Signals every process of the group that a process leads. A group that is gone is no failure.
 * @returns false when none of them may be signalled: a program that changed its user (`sudo -u mc java …`) belongs to another one.
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
