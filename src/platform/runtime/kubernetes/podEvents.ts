import type { CoreV1Event, V1Pod } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import type { ClusterClient } from './clusterClient'
import type { PodRuns } from './podRuns'
import { isPending, messagesOf, nameOf, runIdOf, type ClusterMessage } from './podState'

/** How long a Pod may be pending until its events are read; each further wait is twice as long. */
const FIRST_WAIT_MS = 4000
const MAX_WAIT_MS = 60_000
/** One Pod at a time, so that many of them cost no more requests. */
const INTERVAL_MS = 1000
/** For one Pod. Its cluster repeats few of them. */
const MAX_EVENTS = 20

/** Events that say again what the status of a Pod says (`messagesOf`). */
const TOLD_BY_STATUS = ['FailedScheduling', 'Failed', 'BackOff', 'InspectFailed', 'ErrImageNeverPull']

export interface PodEventParts {
  client: ClusterClient
  runs: Pick<PodRuns, 'get' | 'watch'>
  isActive: () => boolean
  /** Writes to the Pod's console what was not written yet. */
  tell: (pod: V1Pod, messages: ClusterMessage[]) => Promise<void>
  log: Pick<Logger, 'warn'>
}

/**
 * Tells in the consoles of Pods that stay pending why they do: a volume that cannot be mounted is in no status, only in the
 * events of the cluster. They are read for one Pod after the other, less and less often.
 * @returns a function that ends it
 */
export function tellPodEvents({ client, runs, isActive, tell, log }: PodEventParts): () => void {
  const pending = new Map<string, { runId: string; waitMs: number; dueAt: number }>()
  let isLooking = false
  let isFailing = false

  const unwatch = runs.watch((podName) => {
    const pod = runs.get(podName)
    if (!pod || !isPending(pod)) pending.delete(podName)
    else if (pending.get(podName)?.runId !== runIdOf(pod))
      pending.set(podName, { runId: runIdOf(pod), waitMs: FIRST_WAIT_MS, dueAt: performance.now() + FIRST_WAIT_MS })
  })

  async function look(podName: string): Promise<void> {
    const pod = runs.get(podName)
    if (!pod) return
    const fieldSelector = `involvedObject.uid=${runIdOf(pod)},type=Warning`
    const { items } = await client.call((core) =>
      core.listNamespacedEvent({ namespace: client.namespace, fieldSelector, limit: MAX_EVENTS }),
    )
    await tell(pod, eventMessagesOf(pod, items))
  }

  const timer = setInterval(() => {
    if (isLooking || pending.size === 0 || !isActive()) return
    const now = performance.now()
    const [podName, next] = [...pending].find(([, { dueAt }]) => dueAt <= now) ?? []
    if (podName === undefined || !next) return
    isLooking = true
    look(podName)
      .then(
        () => (isFailing = false),
        (error: unknown) => {
          if (!isFailing) log.warn({ err: error, podName }, 'the events of instances cannot be read; retrying')
          isFailing = true
        },
      )
      .finally(() => {
        isLooking = false
        next.waitMs = Math.min(MAX_WAIT_MS, 2 * next.waitMs)
        next.dueAt = performance.now() + next.waitMs
      })
  }, INTERVAL_MS)

  return () => {
    unwatch()
    clearInterval(timer)
  }
}

/** The newest event of each reason, as lines for the Pod's console. */
function eventMessagesOf(pod: V1Pod, events: CoreV1Event[]): ClusterMessage[] {
  const isTold = messagesOf(pod).length > 0
  const newest = new Map<string, CoreV1Event>()
  for (const event of [...events].sort((one, other) => timeOf(one) - timeOf(other)))
    if (event.involvedObject.name === nameOf(pod)) newest.set(event.reason ?? '', event)
  return [...newest]
    .filter(([reason, { message }]) => reason && message && !(isTold && TOLD_BY_STATUS.includes(reason)))
    .map(([reason, { message = '' }]) => ({
      key: `event ${reason}`,
      text: `${reason}: ${message.replaceAll(/\s+/g, ' ').trim()}`,
    }))
}

const timeOf = ({ lastTimestamp, eventTime, metadata }: CoreV1Event): number =>
  new Date(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? 0).getTime()
