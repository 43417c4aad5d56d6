import type { V1Pod } from '@kubernetes/client-node'
import type { PodInput } from './console/podInput'
import type { PodRuns } from './podRuns'
import type { Pods } from './pods'
import { KILL_AFTER_SECONDS, STOP_ANNOTATION, STOP_SENT_ANNOTATION } from './podSpec'
import { hasEnded, hasLog, nameOf, runOptionsOf, stopRequestedAt } from './podState'

/** Delay before the stop command is written again to an instance that did not accept it. */
const RETRY_MS = 1000

export interface PodStopParts {
  runs: PodRuns
  pods: Pods
  inputOf: (podName: string) => PodInput
  /** Requests that `proceed` is called again after a delay in milliseconds. */
  schedule: (podName: string, ms: number) => void
}

/**
 * Stops instances in order: the stop command, SIGTERM after its timeout, then SIGKILL. Requests are kept in the Pods.
 */
export function createPodStops({ runs, pods, inputOf, schedule }: PodStopParts) {
  return {
    /** Takes the next step of a stop that was requested. */
    async proceed(pod: V1Pod): Promise<void> {
      const podName = nameOf(pod)
      const requestedAt = stopRequestedAt(pod)
      if (requestedAt === undefined || hasEnded(pod) || pod.metadata?.deletionTimestamp !== undefined) return
      const { command, timeoutSeconds } = runOptionsOf(pod).stop
      const wait = command === undefined || !hasLog(pod) ? 0 : remainingMs(requestedAt, timeoutSeconds * 1000)
      if (wait <= 0 || command === undefined) return pods.delete(pod, KILL_AFTER_SECONDS)
      let isSent = pod.metadata?.annotations?.[STOP_SENT_ANNOTATION] !== undefined
      if (!isSent && (await inputOf(podName).write(command))) {
        runs.put(await pods.annotate(pod, { [STOP_SENT_ANNOTATION]: 'true' }))
        isSent = true
      }
      schedule(podName, isSent ? wait : Math.min(wait, RETRY_MS))
    },

    /** @returns the Pod with the request; undefined if it does not run */
    async request(podName: string): Promise<V1Pod | undefined> {
      const pod = runs.get(podName)
      if (!pod || hasEnded(pod)) return undefined
      if (stopRequestedAt(pod) !== undefined) return pod
      const annotated = await pods.annotate(pod, { [STOP_ANNOTATION]: String(Date.now()) })
      runs.put(annotated)
      return annotated
    },
  }
}

/** Milliseconds left of a period. A clock that was set back must not prolong it. */
function remainingMs(since: number, periodMs: number): number {
  return Math.min(periodMs, since + periodMs - Date.now())
}
