import type { V1Pod } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import { ReadyLine, TOO_SLOW_LINE } from '../readyLine'
import { createKeyedBackoff } from './backoff'
import type { PodConsole } from './console/podConsole'
import type { PodRuns } from './podRuns'
import type { Pods } from './pods'
import { nameOf, runIdOf, runOptionsOf } from './podState'

/** Mean delays until an instance is marked as ready again after a failure: the first and the longest. */
const RETRY_MS = 1000
const MAX_RETRY_MS = 10_000

export interface PodReadinessParts {
  runs: PodRuns
  pods: Pods
  consoleOf: (podName: string) => PodConsole
  /** Called with a delay in milliseconds when an instance could not be marked as ready: call `watch` again then. */
  retry: (podName: string, ms: number) => void
  log: Pick<Logger, 'warn'>
}

/** Waits for the ready lines of instances, and marks their Pods as ready. */
export interface PodReadiness {
  /** Watches the console of a run for its ready line, unless it is watched already. */
  watch(pod: V1Pod): Promise<void>
  endWatch(podName: string): Promise<void>
  /** Forgets an instance that does not exist any more. */
  forget(podName: string): void
}

export function createPodReadiness({ runs, pods, consoleOf, retry, log }: PodReadinessParts): PodReadiness {
  /** The run whose console is watched, by instance. */
  const watched = new Map<string, string>()
  const backoffs = createKeyedBackoff(RETRY_MS, MAX_RETRY_MS)

  async function markReady(pod: V1Pod, isTooSlow: boolean): Promise<void> {
    const podName = nameOf(pod)
    try {
      runs.put(await pods.setReady(pod))
      backoffs.reset(podName)
      if (isTooSlow) await consoleOf(podName).note(TOO_SLOW_LINE)
    } catch (error) {
      log.warn({ err: error, podName }, 'failed to mark an instance as ready; retrying')
      // The next watch begins at the run's first line again.
      watched.delete(podName)
      retry(podName, backoffs.next(podName))
    }
  }

  return {
    async watch(pod) {
      const podName = nameOf(pod)
      const { ready } = runOptionsOf(pod)
      if (ready === undefined || watched.get(podName) === runIdOf(pod)) return
      watched.set(podName, runIdOf(pod))
      const line = new ReadyLine(ready)
      let isFound = false
      try {
        await consoleOf(podName).watchLines((texts) => {
          const match = isFound ? false : line.matches(texts)
          if (match === false) return
          isFound = true
          void markReady(pod, match === 'too slow')
        })
      } catch (error) {
        // The state's database does not answer. The step is repeated, and watches then.
        watched.delete(podName)
        throw error
      }
    },
    async endWatch(podName) {
      if (watched.delete(podName)) await consoleOf(podName).watchLines(undefined)
    },
    forget(podName) {
      watched.delete(podName)
      backoffs.reset(podName)
    },
  }
}
