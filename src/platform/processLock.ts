import { spawnSync } from 'node:child_process'
import { closeSync, constants, ftruncateSync, openSync, readFileSync, readlinkSync, writeSync } from 'node:fs'
import { errorCodeOf, StartError } from './errors'

export interface HeldLock {
  /** A process that inherits this descriptor holds the lock too, for as long as it or one of its children lives. */
  readonly fd: number
  /** Pid, start time, boot id and pid namespace of the process that held it last; empty when nobody did. */
  readonly previousOwner: string
  /** Gives it back; the death of the process does so as well. */
  release(): void
}

/**
 * Takes a kernel lock (flock(2)) on a file, which is made when it is missing and must never be removed. The kernel gives it
 * back when its last holder dies, and it counts across containers: no pid has to be trusted. Node.js has no call for it;
 * `flock` of util-linux locks the open file description that it inherits from us, and the lock stays with ours.
 * @returns undefined while another process holds it.
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
    // For people, and for who has to signal the owner.
    ftruncateSync(fd, writeSync(fd, `${process.pid} ${startTimeOf(process.pid)} ${placeOfPids()}`, 0))
    return { fd, previousOwner, release: () => closeSync(fd) }
  } finally {
    if (!isTaken) closeSync(fd)
  }
}

/** As `takeLock`, for the life of this process. @returns false while another process holds it. */
export function acquireLock(file: string): boolean {
  return takeLock(file) !== undefined
}

/** `flock -n FD` ends with 1 when the lock is taken, and with another code when it could not be asked for. */
function flock(file: string, fd: number): boolean {
  const { status, error, stderr } = spawnSync('flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'pipe', fd],
    encoding: 'utf8',
  })
  if (errorCodeOf(error) === 'ENOENT')
    throw new StartError([
      '`flock` (util-linux) is not installed: install it. It keeps two platforms from using one data directory',
    ])
  if (error) throw error
  if (status === 0 || status === 1) return status === 0
  throw new StartError([
    `${file} cannot be locked (${stderr.trim() || `flock ended with ${status}`}): the data directory must be on a file system with locks`,
  ])
}

/** Versions before the kernel lock wrote only pid and start time, and locked nothing. */
function isHeldByOlderVersion(owner: string): boolean {
  return owner.split(' ').length === 2 && lives(owner)
}

/** The pid of the living process that holds a lock; undefined also when it is one of another container or machine. */
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
  const [pid = '', startTime = '', ...place] = owner.split(' ')
  // A number of another boot or pid namespace says nothing about the process that has it here.
  return (place.length === 0 || place.join(' ') === placeOfPids()) && isAlive(Number(pid), startTime)
}

/** Within what a pid means one process: the boot of the machine and the pid namespace. Empty where there is no /proc. */
function placeOfPids(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return ''
  }
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
