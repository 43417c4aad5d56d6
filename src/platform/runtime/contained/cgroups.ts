import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodeOf } from '../../errors'

const ROOT = '/sys/fs/cgroup'

/** What the processes of one control group use. */
export interface GroupUsage {
  /** Processor time since the group was made, in milliseconds. */
  cpuMs: number
  /** Memory in use without what the kernel can drop at once (as the kubelet counts the working set), in bytes. */
  memoryBytes: number
}

/** The version of control groups that holds controllers here; undefined where there are none. */
export function cgroupVersion(root = ROOT): 1 | 2 | undefined {
  if (read(join(root, 'cgroup.controllers'))?.includes('memory')) return 2
  return read(join(root, 'memory/cgroup.procs')) === undefined ? undefined : 1
}

/** @param path of the group below the root, as in a container's configuration. @returns undefined when there is no such group. */
export function usageOfGroup(path: string, root = ROOT): GroupUsage | undefined {
  return cgroupVersion(root) === 2 ? usageInV2(join(root, path)) : usageInV1(root, path)
}

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
    // The group of an instance that has just ended may go while it is read.
    if (['ENOENT', 'ENODEV', 'EACCES', 'ENOTDIR'].includes(errorCodeOf(error) ?? '')) return undefined
    throw error
  }
}
