import { readFileSync } from 'node:fs'
import { readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCodeOf } from '../../errors'

const ROOT = '/sys/fs/cgroup'

export interface GroupUsage {
  /** CPU time since the group was created. */
  cpuMs: number
  /** Working set in bytes as the kubelet counts it: memory in use minus inactive file cache. */
  memoryBytes: number
}

/** Version of cgroups that has controllers; undefined if there is none. */
export function cgroupVersion(root = ROOT): 1 | 2 | undefined {
  if (read(join(root, 'cgroup.controllers'))?.includes('memory')) return 2
  return read(join(root, 'memory/cgroup.procs')) === undefined ? undefined : 1
}

/** @param path the group's path below the root, as in the container's configuration. @returns undefined if missing */
export function usageOfGroup(path: string, root = ROOT): GroupUsage | undefined {
  return cgroupVersion(root) === 2 ? usageInV2(join(root, path)) : usageInV1(root, path)
}

/**
 * Removes the groups of ended containers. runc leaves them when it is killed, and so does the platform when it ends
 * before it has removed a container. The kernel refuses to remove a group that has processes.
 * @param parent path of their parent below the root
 */
export async function removeEmptyGroups(parent: string, root = ROOT): Promise<void> {
  // With cgroups v1, each hierarchy has a directory in the root.
  for (const hierarchy of ['', ...(await namesOf(root))]) {
    const directory = join(root, hierarchy, parent)
    for (const name of await namesOf(directory)) await rmdir(join(directory, name)).catch(() => undefined)
  }
}

const namesOf = (directory: string) => readdir(directory).catch((): string[] => [])

function usageInV2(group: string): GroupUsage | undefined {
  const cpuUs = statOf(join(group, 'cpu.stat'), 'usage_usec')
  const memory = numberIn(join(group, 'memory.current'))
  if (cpuUs === undefined || memory === undefined) return undefined
  return {
    cpuMs: cpuUs / 1000,
    memoryBytes: Math.max(0, memory - (statOf(join(group, 'memory.stat'), 'inactive_file') ?? 0)),
  }
}

function usageInV1(root: string, path: string): GroupUsage | undefined {
  const cpuNs = numberIn(join(root, 'cpuacct', path, 'cpuacct.usage'))
  const memory = numberIn(join(root, 'memory', path, 'memory.usage_in_bytes'))
  if (cpuNs === undefined || memory === undefined) return undefined
  return {
    cpuMs: cpuNs / 1e6,
    memoryBytes: Math.max(0, memory - (statOf(join(root, 'memory', path, 'memory.stat'), 'total_inactive_file') ?? 0)),
  }
}

function numberIn(file: string): number | undefined {
  const text = read(file)
  return text === undefined ? undefined : Number(text)
}

function statOf(file: string, key: string): number | undefined {
  const line = read(file)
    ?.split('\n')
    .find((row) => row.startsWith(`${key} `))
  return line === undefined ? undefined : Number(line.slice(key.length + 1))
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    // The cgroup may disappear during the read when its instance ends.
    if (['ENOENT', 'ENODEV', 'EACCES', 'ENOTDIR'].includes(errorCodeOf(error) ?? '')) return undefined
    throw error
  }
}
