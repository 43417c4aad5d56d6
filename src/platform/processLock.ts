import { spawnSync } from 'node:child_process'
import { closeSync, constants, ftruncateSync, openSync, readFileSync, readlinkSync, statSync, writeSync } from 'node:fs'
import { errorCodeOf, StartError } from './errors'

export interface HeldLock {
  /** A process that inherits this descriptor shares the lock, as long as it or one of its children lives. */
  readonly fd: number
  /** Pid, start time, boot id and PID namespace of the last owner; empty if there was none. */
  readonly previousOwner: string
  /** Releases the lock. The end of the process does so too. */
  release(): void
}

/**
 * Takes a kernel lock (flock(2)) on a file, which is created if missing and must never be removed. The lock works
 * across containers, and the kernel releases it when its last holder ends, so no pid has to be trusted. Node.js has no
 * such call: `flock` of util-linux locks the open file description that it inherits and shares with us.
 * @returns undefined while another process holds it. Without `release`, the lock is held for the life of this process.
 * @throws StartError without `flock` or on a file system without locks; Node.js errors when the file cannot be opened
 */
export function takeLock(file: string): HeldLock | undefined {
  const fd = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600)
  let isTaken = false
  try {
    if (!flock(file, fd)) return undefined
    const previousOwner = readFileSync(file, 'utf8')
    if (isHeldByOlderVersion(previousOwner)) return undefined
    isTaken = true
    // The owner is for diagnosis and for `lockOwner`.
    ftruncateSync(fd, writeSync(fd, `${process.pid} ${startTimeOf(process.pid)} ${pidScope()}`, 0))
    return { fd, previousOwner, release: () => closeSync(fd) }
  } finally {
    if (!isTaken) closeSync(fd)
  }
}

/** `flock -n FD` exits with 1 if the lock is taken, and with another code after an error. */
function flock(file: string, fd: number): boolean {
  const { status, error, stderr } = spawnSync('flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', fd],
    encoding: 'utf8',
  })
  if (errorCodeOf(error) === 'ENOENT')
    throw new StartError([
      '`flock` (util-linux) is not installed: install it. It prevents two platforms from using one data directory',
    ])
  if (error) throw error
  if (status === 0 || status === 1) return status === 0
  throw new StartError([
    `${file} cannot be locked (${stderr.trim() || `flock ended with ${status}`}): the data directory must be on a file system with locks`,
  ])
}

/** Versions before the kernel lock wrote only pid and start time, and took no lock. */
function isHeldByOlderVersion(owner: string): boolean {
  return owner.split(' ').length === 2 && isOwnerAlive(owner)
}

/**
 * The directory that another one is a copy of, if it is still there. Backups and copies of a data directory name
 * processes of the original one.
 * @param storedIn where a record of a process in the directory was written
 * @returns undefined if that is this directory, by whatever path, or if the original was moved or removed
 * @throws StartError if the original cannot be read
 */
export function originalOf(directory: string, storedIn: string): string | undefined {
  try {
    const original = statSync(storedIn, { throwIfNoEntry: false })
    const own = statSync(directory)
    return original === undefined || (original.dev === own.dev && original.ino === own.ino) ? undefined : storedIn
  } catch (error) {
    // Of another user, whose processes this one cannot end.
    if (errorCodeOf(error) === 'EACCES') return undefined
    throw new StartError([
      `${directory} may be a copy of ${storedIn}, which cannot be read (${errorCodeOf(error) ?? String(error)}): make it readable again`,
    ])
  }
}

/** Pid of the live owner of a lock; undefined also if it runs in another container or on another machine. */
export function lockOwner(file: string): number | undefined {
  const owner = read(file)
  return owner !== undefined && isOwnerAlive(owner) ? Number(owner.split(' ')[0]) : undefined
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function isOwnerAlive(owner: string): boolean {
  const [pid = '', startTime = '', ...scope] = owner.split(' ')
  // A pid of another boot or PID namespace means nothing here.
  return (scope.length === 0 || scope.join(' ') === pidScope()) && isAlive(Number(pid), startTime)
}

/** The scope in which a pid is valid: boot id and PID namespace. Empty without /proc. */
function pidScope(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return ''
  }
}

/**
 * Identifies what all processes end with: the boot of the machine, and the container around this process. Empty without
 * /proc. The kernel gives the number of a PID namespace to a later one, so its first process is part of it.
 */
export const PROCESS_SCOPE = pidScope() && `${pidScope()} ${startTimeOf(1)}`

/**
 * Whether a run of a process is alive. A zombie is not: where the first process of a container is not an init, zombies
 * are never reaped. While its state cannot be read (no free file descriptor), a process counts as alive: what counts as
 * ended is started again, beside the program that still runs.
 * @param startTime see startTimeOf.
 */
export function isAlive(pid: number, startTime: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (errorCodeOf(error) === 'ESRCH') return false
  }
  try {
    const stat = statOf(pid)
    return stat.startTime === startTime && !ENDED_STATES.includes(stat.state)
  } catch {
    return true
  }
}

/** States of a process that has ended (proc_pid_stat(5)): zombie and dead. */
const ENDED_STATES = ['Z', 'X']

/**
 * Start time in clock ticks since boot; identifies a process although pids are reused. Empty if it cannot be read, as
 * without /proc.
 */
export function startTimeOf(pid: number): string {
  try {
    return statOf(pid).startTime
  } catch {
    return ''
  }
}

/** @returns empty texts if there is no such process, or no /proc. @throws Node.js errors such as EMFILE */
function statOf(pid: number): { state: string; startTime: string } {
  const stat = readStat(pid)
  // The second field is the program's name in parentheses, with any characters; count fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', startTime: fields[19] ?? '' }
}

function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch (error) {
    // ESRCH: it has ended since the file was opened.
    if (!['ENOENT', 'ESRCH'].includes(errorCodeOf(error) ?? '')) throw error
    return ''
  }
}
