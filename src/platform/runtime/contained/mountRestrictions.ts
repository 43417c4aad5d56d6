import { realpathSync } from 'node:fs'

/** Options of a mount that a user namespace must repeat when it mounts a part of it elsewhere (mount_namespaces(7)). */
const LOCKED_OPTIONS = ['nosuid', 'nodev', 'noexec']

interface MountPoint {
  path: string
  options: string[]
}

/**
 * Returns a function that returns which of `nosuid`, `nodev` and `noexec` the file system at a path is mounted with.
 * The function throws if the path does not exist.
 * @param mountInfo content of /proc/self/mountinfo (proc(5))
 */
export function mountRestrictions(mountInfo: string): (path: string) => string[] {
  const mountPoints = mountInfo.split('\n').flatMap((line): MountPoint[] => {
    const [, , , , path, options] = line.split(' ')
    return path === undefined || options === undefined
      ? []
      : [{ path: unescapePath(path), options: options.split(',') }]
  })
  return (path) => {
    const realPath = realpathSync(path)
    let found: MountPoint | undefined
    // The last one of several mounts on one path covers the others.
    for (const mountPoint of mountPoints)
      if (isWithin(realPath, mountPoint.path) && mountPoint.path.length >= (found?.path.length ?? 0)) found = mountPoint
    return LOCKED_OPTIONS.filter((option) => found?.options.includes(option))
  }
}

function isWithin(path: string, directory: string): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`)
}

/** Blanks, tabs, line feeds and backslashes are octal numbers. */
function unescapePath(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8)))
}
