import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { errorCodeOf } from './errors'

/**
 * Takes a lock that its owner's death gives back: a file with the pid and start time of the owner.
 * @returns false while a living process holds it.
 */
export function acquireLock(file: string): boolean {
  const mine = `${process.pid} ${startTimeOf(process.pid)}`
  const own = `${file}.${process.pid}`
  writeFileSync(own, mine)
  try {
    for (;;) {
      try {
        // A link is there whole or not at all.
        linkSync(own, file)
        return true
      } catch (error) {
        if (errorCodeOf(error) !== 'EEXIST') throw error
      }
      const owner = read(file)
      if (owner !== undefined && lives(owner)) return false
      // Of several that find a dead owner, one moves the file away; the others find it gone and try again.
      const stale = `${own}.stale`
      try {
        renameSync(file, stale)
        const moved = read(stale)
        if (moved !== undefined && lives(moved)) renameSync(stale, file)
        else rmSync(stale, { force: true })
      } catch (error) {
        if (errorCodeOf(error) !== 'ENOENT') throw error
      }
    }
  } finally {
    rmSync(own, { force: true })
  }
}

/** The pid of the living process that holds a lock. */
export function lockOwner(file: string): number | undefined {
  const owner = read(file)
  return owner !== undefined && lives(owner) ? Number(owner.split(' ')[0]) : undefined
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function lives(owner: string): boolean {
  const [pid = '', startTime = ''] = owner.split(' ')
  return isAlive(Number(pid), startTime)
}

/**
 * Whether a run of a process goes on. One that is dead and not yet collected by its parent does not, however long that
 * takes: where the first process of a container is no init, for ever.
 * @param startTime see startTimeOf.
 */
export function isAlive(pid: number, startTime: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (errorCodeOf(error) === 'ESRCH') return false
  }
  const stat = statOf(pid)
  return stat.startTime === startTime && !DEAD.includes(stat.state)
}

/** The states of a process that has ended (proc_pid_stat(5)): a zombie, and one that is just going. */
const DEAD = ['Z', 'X']

/** Names one run of a process beyond doubt: a pid may be given again. Ticks since boot; empty where there is no /proc. */
export function startTimeOf(pid: number): string {
  return statOf(pid).startTime
}

function statOf(pid: number): { state: string; startTime: string } {
  const stat = read(`/proc/${pid}/stat`) ?? ''
  // The second field is the program's name in parentheses, and may hold anything; fields are counted after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', startTime: fields[19] ?? '' }
}
