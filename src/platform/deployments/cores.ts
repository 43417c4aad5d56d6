import type { Usage } from '../runtime/runtime'

/**
 * How many cores were used between two samples so many milliseconds apart.
 * @returns undefined where that cannot be told: there is no earlier sample, or it is one of another run.
 */
export function coresUsed(earlier: Usage | undefined, later: Usage | undefined, spanMs: number): number | undefined {
  if (!earlier || !later || earlier.runId !== later.runId || later.cpuMs < earlier.cpuMs || spanMs <= 0)
    return undefined
  return (later.cpuMs - earlier.cpuMs) / spanMs
}
