import type { V1Pod } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import type { KeyedQueue } from '../../concurrency/keyedQueue'
import { createKeyedBackoff } from './backoff'
import type { KeptFiles } from './keptFiles'
import type { PodConsole } from './console/podConsole'
import type { PodInput } from './console/podInput'
import { messagesOf, type PodMessages } from './podMessages'
import { createPodReadiness } from './podReadiness'
import type { PodRuns } from './podRuns'
import { createPodStops } from './podStops'
import type { Pods } from './pods'
import {
  awaitsReadyLine,
  awaitsWriteBack,
  hasEnded,
  hasOthersRunning,
  heldProblem,
  holdTimeLeft,
  isReplaceable,
  lostSince,
  nameOf,
} from './podState'

/** Delay before a failed step is repeated, and interval of the checks whether this platform has become the manager. */
const RETRY_MS = 1000
/** Maximum mean delay until a failed step is taken again. */
const MAX_BACKOFF_MS = 10_000
/** How long a Pod of a node that does not answer may be overdue before it is replaced. */
const LOST_NODE_MS = 20_000

export interface PodStepParts {
  runs: PodRuns
  pods: Pods
  consoleOf: (podName: string) => PodConsole
  inputOf: (podName: string) => PodInput
  keptFiles: KeptFiles
  messages: PodMessages
  /** Runs the changes of one instance one after another. */
  inTurn: KeyedQueue
  isActive: () => boolean
  /** Whether this platform is still the manager. One that was suspended does not know that another took over. */
  confirmActive: () => Promise<boolean>
  log: Pick<Logger, 'warn'>
}

/** The steps that become due while an instance runs. Only the manager takes them, and the next manager continues. */
export interface PodSteps {
  /** Begins a stop, or continues it. */
  stop: (podName: string) => Promise<void>
  kill: (podName: string) => Promise<void>
  close: () => void
}

/** Watches the runs, and takes the steps that become due until it is closed. */
export function startPodSteps({
  runs,
  pods,
  consoleOf,
  inputOf,
  keptFiles,
  messages,
  inTurn,
  isActive,
  confirmActive,
  log,
}: PodStepParts): PodSteps {
  const timers = createTimers()
  const failures = createKeyedBackoff(RETRY_MS, MAX_BACKOFF_MS)
  const readiness = createPodReadiness({ runs, pods, consoleOf, retry: schedule, log })
  const stops = createPodStops({ runs, pods, inputOf, schedule })
  let wasActive = false
  let isClosed = false

  function schedule(podName: string, ms: number): void {
    if (isClosed || !isActive()) return
    timers.set(podName, ms, () => {
      inTurn(podName, async () => {
        if (await confirmActive()) return takeSteps(podName)
        // When the lock is taken again, also at once, all steps are due.
        wasActive = false
      }).then(
        () => failures.reset(podName),
        (error: unknown) => {
          log.warn({ err: error, podName }, 'a step for an instance failed; retrying')
          schedule(podName, failures.next(podName))
        },
      )
    })
  }

  async function takeSteps(podName: string): Promise<void> {
    const pod = runs.get(podName)
    if (isClosed) return
    if (!pod || hasEnded(pod)) {
      await readiness.endWatch(podName)
      if (runs.runOf(podName)) await consoleOf(podName).settle()
      const retryMs = pod && awaitsWriteBack(pod) ? await keptFiles.finish(pod) : undefined
      if (retryMs !== undefined) schedule(podName, retryMs)
      if (pod) await reportHold(pod)
      if (pod && hasOthersRunning(pod)) runs.put(await pods.endContainers(pod))
      return
    }
    await messages.write(pod, messagesOf(pod))
    await handleLostNode(pod)
    if (awaitsReadyLine(pod)) await readiness.watch(pod)
    else await readiness.endWatch(podName)
    await stops.proceed(pod)
  }

  /** Writes to the console why a Pod stays whose instance cannot start again before it is gone. */
  async function reportHold(pod: V1Pod): Promise<void> {
    const left = holdTimeLeft(pod)
    if (left === undefined) return
    if (left > 0) return schedule(nameOf(pod), left)
    await messages.write(pod, [{ key: 'held', text: heldProblem(pod) }])
  }

  /** Replaces an instance whose node does not answer, unless two of them might write to the same files. */
  async function handleLostNode(pod: V1Pod): Promise<void> {
    const since = lostSince(pod)
    if (since === undefined) return
    const wait = since + LOST_NODE_MS - Date.now()
    if (wait > 0) return schedule(nameOf(pod), wait)
    const node = pod.spec?.nodeName ?? ''
    const what = isReplaceable(pod)
      ? 'It is replaced on another one.'
      : 'It is replaced when the node is back, or when it is removed from the cluster.'
    await messages.write(pod, [{ key: 'lost node', text: `The node ${node} does not answer. ${what}` }])
    if (isReplaceable(pod)) await pods.delete(pod, 0)
  }

  const unwatch = runs.watch((podName) => {
    if (runs.runOf(podName)) return schedule(podName, 0)
    messages.forget(podName)
    readiness.forget(podName)
    failures.reset(podName)
  })
  const activityTimer = setInterval(() => {
    const hasBecomeActive = isActive() && !wasActive
    wasActive = isActive()
    if (!hasBecomeActive) return
    runs.instances().then(
      (instances) => instances.forEach(({ podName }) => schedule(podName, 0)),
      // The cluster does not answer. When it does, it reports each Pod again.
      () => undefined,
    )
  }, RETRY_MS)

  return {
    async stop(podName) {
      const pod = await stops.request(podName)
      if (pod) await stops.proceed(pod)
    },
    async kill(podName) {
      const ended = runs.get(podName)
      if (ended && awaitsWriteBack(ended)) return keptFiles.cancel(ended)
      const pod = await stops.request(podName)
      // Without any grace period the cluster would forget the Pod before its processes have ended.
      if (pod) await pods.delete(pod, 1)
    },
    close() {
      isClosed = true
      unwatch()
      clearInterval(activityTimer)
      timers.clear()
    },
  }
}

/** Timers by key. Of several times for one key, the earliest counts. */
function createTimers() {
  const timers = new Map<string, { timer: NodeJS.Timeout; due: number }>()
  return {
    set(key: string, ms: number, onDue: () => void): void {
      const due = performance.now() + ms
      const known = timers.get(key)
      if (known && known.due <= due) return
      clearTimeout(known?.timer)
      const timer = setTimeout(() => {
        timers.delete(key)
        onDue()
      }, ms)
      timers.set(key, { timer, due })
    },
    clear(): void {
      for (const { timer } of timers.values()) clearTimeout(timer)
    },
  }
}
