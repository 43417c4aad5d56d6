import { readdirSync, readFileSync } from 'node:fs'
import { errorCodeOf } from '../../errors'

/** Kernel clock ticks a second as /proc reports them (proc(5)): 100 on every Linux that Node.js runs on. */
const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4096

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

/**
 * Adds up what the processes of each session use. An instance leads a session of its own, so its children count too.
 * Empty where there is no /proc.
 */
export function usageBySession(): Map<number, { cpuMs: number; memoryBytes: number }> {
  const usage = new Map<number, { cpuMs: number; memoryBytes: number }>()
  let pids: string[] = []
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return usage
  }
  for (const pid of pids) {
    const stat = readStat(pid)
    if (!stat) continue
    const sum = usage.get(stat.session) ?? { cpuMs: 0, memoryBytes: 0 }
    usage.set(stat.session, { cpuMs: sum.cpuMs + stat.cpuMs, memoryBytes: sum.memoryBytes + stat.memoryBytes })
  }
  return usage
}

/** Signals every process of the group that a process leads. A group that is gone is no failure. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (errorCodeOf(error) !== 'ESRCH') throw error
  }
}
