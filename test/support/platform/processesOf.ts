import { readdirSync, readFileSync } from 'node:fs'

/** Pids of running processes whose command line contains a path. */
export function processesOf(path: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(path)
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
