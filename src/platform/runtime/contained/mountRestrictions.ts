import { access, readFile } from 'node:fs/promises'
import { mountIdOf } from '../../share/disks'

/** Options of a mount that a user namespace must repeat when it mounts a part of it elsewhere (mount_namespaces(7)). */
const LOCKED_OPTIONS = ['nosuid', 'nodev', 'noexec']
/** Content of uid_map(5) where all ids are mapped to themselves: the namespace of the machine. */
const ALL_IDS = /^\s*0\s+0\s+4294967295\s*$/

/**
 * Returns which of `nosuid`, `nodev` and `noexec` the file systems at some paths are mounted with, by path.
 * @throws Node.js errors if a path does not exist
 */
export async function mountRestrictions(paths: Iterable<string>): Promise<Map<string, string[]>> {
  const mountInfo = await readFile('/proc/self/mountinfo', 'utf8')
  const optionsOf = new Map(
    mountInfo.split('\n').map((line) => {
      const [id = '', , , , , options = ''] = line.split(' ')
      return [id, options.split(',')] as const
    }),
  )
  const restrictions = new Map<string, string[]>()
  for (const path of paths) {
    const options = optionsOf.get(await mountIdOf(path)) ?? []
    restrictions.set(
      path,
      LOCKED_OPTIONS.filter((option) => options.includes(option)),
    )
  }
  return restrictions
}

/**
 * Returns where cgroups are mounted below a path, outermost first. A read-only mount of the path does not make these
 * read-only, and a group may belong to the platform's user (systemd: Delegate=yes), who is also that of its instances.
 */
export async function cgroupMounts(path: string): Promise<string[]> {
  const mountInfo = await readFile('/proc/self/mountinfo', 'utf8')
  const mounts = mountInfo.split('\n').flatMap((line) => {
    const [mount = '', source = ''] = line.split(' - ')
    const at = unescaped(mount.split(' ')[4] ?? '')
    return /^cgroup2? /.test(source) && at.startsWith(`${path}/`) ? [at] : []
  })
  const reachable = await Promise.all(
    mounts.map((at) =>
      access(at).then(
        () => true,
        () => false,
      ),
    ),
  )
  return [...new Set(mounts.filter((_, index) => reachable[index]))]
}

/** Blanks and the like are octal numbers in mountinfo (proc(5)). */
function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))
}

/**
 * Whether this process runs in a user namespace of its own, so that mounts of the machine are locked for root as well.
 */
export async function isInUserNamespace(): Promise<boolean> {
  return !ALL_IDS.test(await readFile('/proc/self/uid_map', 'utf8'))
}
