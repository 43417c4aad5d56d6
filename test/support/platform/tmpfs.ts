import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const run = (program: string, ...args: string[]) => {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

/** Mounts a tmpfs. Requires root. @param size as `mount` has it */
export function mountTmpfs(path: string, size = '16m'): void {
  mkdirSync(path, { recursive: true })
  run('mount', '-t', 'tmpfs', '-o', `size=${size},mode=755`, 'quarterdeck-test', path)
}

/** Changes options of a mount, such as `size=20m` or `nr_inodes=1000`. Requires root. */
export function remount(path: string, options: string): void {
  run('mount', '-o', `remount,${options}`, path)
}

/** Makes a directory read-only, also for root, until it is unmounted. Requires root. */
export function mountReadOnly(path: string): void {
  run('mount', '--bind', path, path)
  remount(path, 'bind,ro')
}

/** Unmounts a file system even if files are open, as when a network share disappears. */
export function unmount(path: string): void {
  run('umount', '--lazy', path)
}

/** Moves a mount with all its files, so that it can be moved back later. */
export function moveMount(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  run('mount', '--move', from, to)
}

/** Whether tests can mount file systems here. */
export const canMount = (() => {
  const path = mkdtempSync(join(tmpdir(), 'quarterdeck-mount-'))
  try {
    mountTmpfs(path, '1m')
    unmount(path)
    return true
  } catch {
    return false
  } finally {
    rmdirSync(path)
  }
})()
