import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const run = (program: string, ...args: string[]) => {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

/** Mounts a file system of its own, of so many MiB. Only root may. */
export function mountTmpfs(path: string, sizeMiB = 16): void {
  mkdirSync(path, { recursive: true })
  run('mount', '-t', 'tmpfs', '-o', `size=${sizeMiB}m,mode=755`, 'quarterdeck-test', path)
}

/** Takes it away although files of it may be open, as a network share goes. */
export function unmount(path: string): void {
  run('umount', '--lazy', path)
}

/** Moves a mount with all its files: what is unmounted so can be mounted again as it was. */
export function moveMount(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  run('mount', '--move', from, to)
}

/** Whether tests can mount file systems here. */
export const canMount = (() => {
  const path = mkdtempSync(join(tmpdir(), 'quarterdeck-mount-'))
  try {
    mountTmpfs(path, 1)
    unmount(path)
    return true
  } catch {
    return false
  } finally {
    rmdirSync(path)
  }
})()
