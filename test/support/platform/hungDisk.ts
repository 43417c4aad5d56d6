import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'

/** Why no disk can be hung here; undefined if one can. */
export const hungDiskMissing =
  process.getuid?.() === 0 && existsSync('/dev/fuse') ? undefined : 'skipped: mounting takes root and /dev/fuse'

/**
 * Mounts a file system that answers nothing: FUSE without a program. What asks it for something hangs in the kernel.
 * @returns ends it: what hangs fails, and the mount is gone. Not to call it keeps the test's process from its end.
 */
export function mountHungDisk(path: string): () => void {
  mkdirSync(path)
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
