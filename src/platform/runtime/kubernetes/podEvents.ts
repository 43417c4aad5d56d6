import type { CoreV1Event, V1Pod } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import type { ClusterClient } from './clusterClient'
import { messagesOf, type ClusterMessage, type PodMessages } from './podMessages'
import type { PodRuns } from './podRuns'
import { isPending, nameOf, runIdOf } from './podState'

/** Delay from the time a Pod is first seen pending to the first read of its events. It doubles with each read. */
const INITIAL_DELAY_MS = 4000
const MAX_DELAY_MS = 60_000
/** At most one Pod's events are read in this time, so the request rate does not grow with the number of Pods. */
const INTERVAL_MS = 1000
/** Limit of the events of one Pod. The cluster counts repeated events instead of adding them. */
const MAX_EVENTS = 20

/** Reasons of events that repeat the status of a Pod, which `messagesOf` reports. */
const REPORTED_BY_STATUS = ['FailedScheduling', 'Failed', 'BackOff', 'InspectFailed', 'ErrImageNeverPull']

export interface PodEventParts {
  client: ClusterClient
  runs: Pick<PodRuns, 'get' | 'watch'>
  isActive: () => boolean
  messages: Pick<PodMessages, 'write'>
  log: Pick<Logger, 'warn'>
}

/**
 * Writes the warnings of the cluster to the consoles of pending Pods. A volume that cannot be mounted, for example, is
 * only in the events of a Pod, not in its status. Events are polled, one Pod at a time, with exponential back-off.
 * @returns a function that stops it
 */
export function reportPodEvents({ client, runs, isActive, messages, log }: PodEventParts): () => void {
  const pending = new Map<string, { runId: string; delayMs: number; dueAt: number }>()
  let isReading = false
  let isFailing = false

  const unwatch = runs.watch((podName) => {
    const pod = runs.get(podName)
    if (!pod || !isPending(pod)) pending.delete(podName)
    else if (pending.get(podName)?.runId !== runIdOf(pod))
      pending.set(podName, {
        runId: runIdOf(pod),
        delayMs: INITIAL_DELAY_MS,
        dueAt: performance.now() + INITIAL_DELAY_MS,
      })
  })

  async function report(podName: string): Promise<void> {
    const pod = runs.get(podName)
    if (!pod) return
    const fieldSelector = `involvedObject.uid=${runIdOf(pod)},type=Warning`
    const { items } = await client.call((core) =>
      core.listNamespacedEvent({ namespace: client.namespace, fieldSelector, limit: MAX_EVENTS }),
    )
    await messages.write(pod, eventMessagesOf(pod, items))
  }

  const timer = setInterval(() => {
    if (isReading || pending.size === 0 || !isActive()) return
    const now = performance.now()
    const due = [...pending].filter(([, { dueAt }]) => dueAt <= now)
    const [first] = due.sort(([, a], [, b]) => a.dueAt - b.dueAt)
    if (!first) return
    const [podName, next] = first
    isReading = true
    report(podName)
      .then(
        () => (isFailing = false),
        (error: unknown) => {
          if (!isFailing) log.warn({ err: error, podName }, 'the events of instances cannot be read; retrying')
          isFailing = true
        },
      )
      .finally(() => {
        isReading = false
        next.delayMs = Math.min(MAX_DELAY_MS, 2 * next.delayMs)
        next.dueAt = performance.now() + next.delayMs
      })
  }, INTERVAL_MS)

  return () => {
    unwatch()
    clearInterval(timer)
  }
}

/** The newest event of each reason, as lines for the Pod's console. */
function eventMessagesOf(pod: V1Pod, events: CoreV1Event[]): ClusterMessage[] {
  const isReported = messagesOf(pod).length > 0
  const newest = new Map<string, CoreV1Event>()
  for (const event of [...events].sort((a, b) => timeOf(a) - timeOf(b)))
    if (event.involvedObject.name === nameOf(pod)) newest.set(event.reason ?? '', event)
  return [...newest]
    .filter(([reason, { message }]) => reason && message && !(isReported && REPORTED_BY_STATUS.includes(reason)))
    .map(([reason, { message = '' }]) => ({
      key: `event ${reason}`,
      text: `${reason}: ${message.replaceAll(/\s+/g, ' ').trim()}`,
    }))
}

const timeOf = ({ lastTimestamp, eventTime, metadata }: CoreV1Event): number =>
  new Date(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? 0).getTime()
