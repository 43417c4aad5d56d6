import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InstanceSpec } from '../runtime'

/** The length of a scheduling period that a CPU limit is a share of (cgroup v2, `cpu.max`). In microseconds. */
const PERIOD_US = 100_000

/** Holds an instance to what it may use, by what the machine offers. */
export interface Limiter {
  /** For people. */
  description: string
  enforced: { cpu: boolean; memory: boolean }
  /** @returns why it did not work, for the instance's console. */
  apply(pid: number, podName: string, limits: InstanceSpec['limits']): string | undefined
  /** After the end of the instance. */
  release(podName: string): void
}

/** The best limiter of this machine: cgroup v2 for CPU and memory, else prlimit for memory, else none. */
export function findLimiter(cgroupRoot = '/sys/fs/cgroup'): Limiter {
  return (
    cgroupLimiter(cgroupRoot) ??
    prlimitLimiter() ?? {
      description: 'not enforced: neither cgroup v2 nor prlimit can be used',
      enforced: { cpu: false, memory: false },
      apply: () => undefined,
      release: () => undefined,
    }
  )
}

/** @returns undefined where the tree is not version 2, lacks the controllers, or may not be written. */
function cgroupLimiter(root: string): Limiter | undefined {
  const parent = join(root, 'quarterdeck')
  try {
    const controllers = readFileSync(join(root, 'cgroup.controllers'), 'utf8').trim().split(' ')
    if (!controllers.includes('cpu') || !controllers.includes('memory')) return undefined
    mkdirSync(parent, { recursive: true })
    for (const directory of [root, parent]) writeFileSync(join(directory, 'cgroup.subtree_control'), '+cpu +memory')
  } catch {
    return undefined
  }
  return {
    description: 'CPU and memory by cgroup v2',
    enforced: { cpu: true, memory: true },
    apply(pid, podName, { cores, memoryBytes }) {
      const group = join(parent, podName)
      try {
        mkdirSync(group, { recursive: true })
        if (cores !== undefined) writeFileSync(join(group, 'cpu.max'), `${Math.round(cores * PERIOD_US)} ${PERIOD_US}`)
        if (memoryBytes !== undefined) {
          writeFileSync(join(group, 'memory.max'), String(memoryBytes))
          // It would go on in the swap. A kernel that does not count that has no such file.
          if (existsSync(join(group, 'memory.swap.max'))) writeFileSync(join(group, 'memory.swap.max'), '0')
        }
        writeFileSync(join(group, 'cgroup.procs'), String(pid))
        return undefined
      } catch {
        return 'Its resource limits could not be set.'
      }
    },
    release(podName) {
      try {
        rmdirSync(join(parent, podName))
      } catch {
        // There is none, or a process of it is still going: the next start uses it again.
      }
    },
  }
}

function prlimitLimiter(): Limiter | undefined {
  if (spawnSync('prlimit', ['--version']).status !== 0) return undefined
  return {
    description: 'memory by prlimit; CPU is not limited (no writable cgroup v2)',
    enforced: { cpu: false, memory: true },
    apply(pid, _podName, { memoryBytes }) {
      if (memoryBytes === undefined) return undefined
      // The data segment (heap and private mappings), not the address space: runtimes reserve far more than they use.
      const { status } = spawnSync('prlimit', ['--pid', String(pid), `--data=${memoryBytes}`])
      return status === 0 ? undefined : 'Its memory limit could not be set.'
    },
    release: () => undefined,
  }
}
