import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LocalSpec } from '../runtime'

/** Scheduling period of a CPU limit (cgroup v2, `cpu.max`). */
const PERIOD_US = 100_000
/** The kernel refuses a smaller quota. */
const MIN_QUOTA_US = 1000

/** Enforces the resource limits of instances with the means of this machine. */
export interface ResourceLimiter {
  /** Text for users. */
  description: string
  enforced: { cpu: boolean; memory: boolean }
  /** @returns why it failed, for the instance's console. */
  apply(pid: number, podName: string, limits: LocalSpec['limits']): string | undefined
  /** Call after the end of the instance. */
  release(podName: string): void
}

/** The best limiter of this machine: cgroup v2 for CPU and memory, otherwise prlimit for memory, otherwise none. */
export function findResourceLimiter(cgroupRoot = '/sys/fs/cgroup'): ResourceLimiter {
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

/** @returns undefined if the tree is not version 2, lacks the controllers, or is not writable. */
function cgroupLimiter(root: string): ResourceLimiter | undefined {
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
        if (cores !== undefined) {
          const quota = Math.max(MIN_QUOTA_US, Math.round(cores * PERIOD_US))
          writeFileSync(join(group, 'cpu.max'), `${quota} ${PERIOD_US}`)
        }
        if (memoryBytes !== undefined) {
          writeFileSync(join(group, 'memory.max'), String(memoryBytes))
          // Otherwise the instance would continue in swap. The file is missing in kernels without swap accounting.
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
        // There is no group, or it still contains a process; the next start uses it again.
      }
    },
  }
}

function prlimitLimiter(): ResourceLimiter | undefined {
  if (spawnSync('prlimit', ['--version']).status !== 0) return undefined
  return {
    description: 'memory by prlimit; CPU is not limited (no writable cgroup v2)',
    enforced: { cpu: false, memory: true },
    apply(pid, _podName, { memoryBytes }) {
      if (memoryBytes === undefined) return undefined
      // Limits private memory, not the address space: language runtimes reserve far more than they use.
      const { status } = spawnSync('prlimit', ['--pid', String(pid), `--data=${memoryBytes}`])
      return status === 0 ? undefined : 'Its memory limit could not be set.'
    },
    release: () => undefined,
  }
}
