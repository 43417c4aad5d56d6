import { readdirSync, readFileSync } from 'node:fs'

/**
 * Pids of running processes whose command line contains a path.
 * @param pattern that the command line matches, too
 */
export function processesOf(path: string, pattern?: RegExp): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return line.includes(path) && (pattern?.test(line) ?? true)
      } catch {
        return false
      }
    })
    .map(Number)
}

/** Whether a process does not exist or is a zombie. */
export function isGone(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.startsWith('Z')
  } catch {
    return true
  }
}

/** The pid of the parent of a process; undefined if the process has ended. */
export function parentOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1])
  } catch {
    return undefined
  }
}

/** Sends a signal to a process, which may have ended since it was found. @returns whether it was there */
export function signalIfThere(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}
