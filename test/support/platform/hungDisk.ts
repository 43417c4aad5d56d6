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
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0'
  const { status, stderr } = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, 'hung', path], {
    stdio: ['ignore', 'ignore', 'pipe', fuse],
  })
  if (status !== 0) {
    closeSync(fuse)
    throw new Error(`mount: ${String(stderr)}`)
  }
  let isMounted = true
  return () => {
    if (!isMounted) return
    isMounted = false
    closeSync(fuse)
    execFileSync('umount', ['-l', path])
  }
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
