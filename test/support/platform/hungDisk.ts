import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'

/** The reason why a hung disk cannot be simulated here; undefined if it can. */
export const hungDiskMissing =
  process.getuid?.() === 0 && existsSync('/dev/fuse') ? undefined : 'skipped: mounting takes root and /dev/fuse'

/**
 * Mounts a file system that never answers: FUSE without a program. Accesses to it hang in the kernel.
 * @returns removes the mount, which fails the pending accesses. Without this the test's process cannot exit.
 */
export function mountHungDisk(path: string): () => void {
  mkdirSync(path, { recursive: true })
  const fuse = openSync('/dev/fuse', 'r+')
  try {
    mountFuse(path, fuse)
  } catch (error) {
    closeSync(fuse)
    throw error
  }
  let isMounted = true
  return () => {
    if (!isMounted) return
    isMounted = false
    closeSync(fuse)
    execFileSync('umount', ['-l', path])
  }
}

/**
 * Mounts a file system whose program has ended, as an sshfs or a GlusterFS client may. Accesses to it fail (ENOTCONN).
 * @param user who may access it at all; others, also root, get EACCES
 * @returns removes the mount
 */
export function mountDeadDisk(path: string, user = 0): () => void {
  mkdirSync(path, { recursive: true })
  const fuse = openSync('/dev/fuse', 'r+')
  try {
    mountFuse(path, fuse, user)
  } finally {
    closeSync(fuse)
  }
  return () => void execFileSync('umount', ['-l', path])
}

/** @param fuse an open `/dev/fuse`, by which a program would answer */
function mountFuse(path: string, fuse: number, user = 0): void {
  const options = `fd=3,rootmode=40000,user_id=${user},group_id=${user}`
  const { status, stderr } = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, 'hung', path], {
    stdio: ['ignore', 'ignore', 'pipe', fuse],
  })
  if (status !== 0) throw new Error(`mount: ${String(stderr)}`)
}

/** The number of threads of this process that wait for a disk (state D). */
export const countHungThreads = (): number =>
  readdirSync('/proc/self/task').filter((id) => {
    try {
      return readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ').at(-1)?.startsWith('D')
    } catch {
      return false
    }
  }).length
