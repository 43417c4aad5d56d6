import type { V1Pod } from '@kubernetes/client-node'
import type { PodConsole } from './console/podConsole'
import { nameOf, runIdOf, type ClusterMessage } from './podState'

/** Maximum number of messages of one run, because the scheduler's reasons may alternate for days. */
const MAX_PER_RUN = 50

/** Writes the cluster's messages to the consoles of instances, each message once for each run. */
export interface PodMessages {
  write(pod: V1Pod, messages: ClusterMessage[]): Promise<void>
  /** Forgets an instance that does not exist any more. */
  forget(podName: string): void
}

export function createPodMessages(consoleOf: (podName: string) => PodConsole): PodMessages {
  /** The messages written for the present run, by instance. */
  const written = new Map<string, { runId: string; keys: Set<string> }>()
  return {
    async write(pod, messages) {
      const known = written.get(nameOf(pod))
      const { keys } = known?.runId === runIdOf(pod) ? known : { keys: new Set<string>() }
      written.set(nameOf(pod), { runId: runIdOf(pod), keys })
      for (const { key, text } of messages) {
        if (keys.has(key) || keys.size === MAX_PER_RUN) continue
        await consoleOf(nameOf(pod)).note(`[System] ${text}`)
        // Not before: a message that could not be stored is written by the next call.
        keys.add(key)
      }
    },
    forget: (podName) => void written.delete(podName),
  }
}
