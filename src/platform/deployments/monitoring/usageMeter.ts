import { availableParallelism, totalmem } from 'node:os'
import type { Definition } from '../../../contract/deployment'
import type { Runtime, Usage } from '../../runtime/runtime'
import { bytesOf, coresOf } from '../quantities'

/** Samples closer together say little about CPU usage. */
const MIN_SPAN_MS = 2000
/** The resources of this machine. Reading them takes a system call, so they are read once. */
const MACHINE = { memoryBytes: totalmem(), cores: availableParallelism() }

interface Sample {
  at: number
  usage: Map<string, Usage>
}

export interface UsageMeter {
  /** The usage of every running instance. That of the CPU is the average since the read before, 0 without one. */
  read(): Promise<(podName: string, resources: Definition['resources']) => InstanceUsage>
}

interface InstanceUsage {
  /** Percent of the limit, or of the host without a limit, 0 to 100. */
  cpu: number
  /** GiB. */
  memory: { used: number; total: number }
}

/** Samples on demand, at most every 2 s, so that an unwatched console costs nothing. */
export function createUsageMeter(runtime: Runtime, now: () => number): UsageMeter {
  let before: Sample | undefined
  let latest: Sample | undefined
  let sampling: Promise<void> | undefined

  async function sample(): Promise<void> {
    const usage = new Map((await runtime.sample()).map((used) => [used.podName, used]))
    before = latest
    latest = { at: now(), usage }
  }

  return {
    async read() {
      if (!latest || Math.abs(now() - latest.at) >= MIN_SPAN_MS) {
        // Concurrent readers share one sample.
        sampling ??= sample().finally(() => {
          sampling = undefined
        })
        await sampling
      }
      const [from, to] = [before, latest]
      return (podName, resources) => {
        const used = to?.usage.get(podName)
        const total = resources?.memory ? bytesOf(resources.memory) : MACHINE.memoryBytes
        const cores = resources?.cpu ? coresOf(resources.cpu) : MACHINE.cores
        const span = from && to ? to.at - from.at : 0
        const share = (coresUsed(from?.usage.get(podName), used, span) ?? 0) / cores
        return {
          cpu: round(Math.min(100, share * 100), 1),
          memory: { used: gib(used?.memoryBytes ?? 0), total: gib(total) },
        }
      }
    },
  }
}

/** Average number of cores in use between two samples; undefined without an earlier sample of the same run. */
export function coresUsed(earlier: Usage | undefined, later: Usage | undefined, spanMs: number): number | undefined {
  if (!earlier || !later || earlier.runId !== later.runId || later.cpuMs < earlier.cpuMs || spanMs <= 0)
    return undefined
  return (later.cpuMs - earlier.cpuMs) / spanMs
}

function gib(bytes: number): number {
  return round(bytes / 2 ** 30, 3)
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits
}
