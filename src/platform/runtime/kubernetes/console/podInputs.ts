import type { Logger } from 'pino'
import type { ClusterClient } from '../clusterClient'
import type { PodRuns } from '../podRuns'
import { PodInput } from './podInput'

export interface PodInputs {
  /** The input of the instance's present run. */
  of: (podName: string) => PodInput
  close(podName: string): void
  closeAll(): void
}

/** The standard inputs of all instances. */
export function createPodInputs(runs: PodRuns, client: ClusterClient, log: Pick<Logger, 'warn'>): PodInputs {
  const inputs = new Map<string, { runId: string | undefined; input: PodInput }>()
  return {
    of(podName) {
      const runId = runs.runOf(podName)?.runId
      const known = inputs.get(podName)
      if (known && known.runId === runId) return known.input
      // The connection to an ended Pod may stay open, and lines written to it are lost.
      known?.input.close()
      const input = new PodInput(client, podName, log)
      inputs.set(podName, { runId, input })
      return input
    },
    close(podName) {
      inputs.get(podName)?.input.close()
      inputs.delete(podName)
    },
    closeAll() {
      for (const { input } of inputs.values()) input.close()
    },
  }
}
