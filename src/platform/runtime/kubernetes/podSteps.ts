import type { V1Pod } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import type { KeyedQueue } from '../../concurrency/keyedQueue'
import { ReadyLine } from '../readyLine'
import { createBackoff, type Backoff } from './backoff'
import type { KeptFiles } from './keptFiles'
import type { PodConsole } from './console/podConsole'
import type { PodInput } from './console/podInput'
import type { PodRuns } from './podRuns'
import type { Pods } from './pods'
import { KILL_AFTER_SECONDS, STOP_ANNOTATION, STOP_SENT_ANNOTATION } from './podSpec'
import {
  awaitsReadyLine,
  awaitsWriteBack,
  hasEnded,
  hasLog,
  isReplaceable,
  lostSince,
  messagesOf,
  nameOf,
  runIdOf,
  runOptionsOf,
  stopRequestedAt,
  type ClusterMessage,
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
  /** Runs the changes of one instance one after another. */
  inTurn: KeyedQueue
  isActive: () => boolean
  log: Pick<Logger, 'warn'>
}

/** The steps that become due while an instance runs. Only the manager takes them, and the next manager continues. */
export interface PodSteps {
  /** Begins a stop, or continues it. */
  stop: (podName: string) => Promise<void>
  kill: (podName: string) => Promise<void>
  /** Writes the messages to the Pod's console that were not yet written for its run. */
  writeMessages: (pod: V1Pod, messages: ClusterMessage[]) => Promise<void>
  close: () => void
}

/** Watches the runs, and takes the steps that become due until it is closed. */
export function startPodSteps({
  runs,
  pods,
  consoleOf,
  inputOf,
  keptFiles,
  inTurn,
  isActive,
  log,
}: PodStepParts): PodSteps {
  const timers = new Map<string, { timer: NodeJS.Timeout; due: number }>()
  /** The run whose console waits for the ready line, by instance. */
  const readyWatches = new Map<string, string>()
  /** Delays of the steps that fail, by instance. */
  const failing = new Map<string, Backoff>()
  /** Delays of marking an instance as ready, which no step waits for. */
  const readyRetries = new Map<string, Backoff>()
  /** The messages written for the present run, by instance. */
  const written = new Map<string, { runId: string; keys: Set<string> }>()
  let wasActive = false
  let isClosed = false

  function schedule(podName: string, ms: number): void {
    const due = performance.now() + ms
    const known = timers.get(podName)
    if (isClosed || !isActive() || (known && known.due <= due)) return
    clearTimeout(known?.timer)
    const timer = setTimeout(() => {
      timers.delete(podName)
      inTurn(podName, () => takeSteps(podName)).then(
        () => failing.delete(podName),
        (error: unknown) => {
          log.warn({ err: error, podName }, 'a step for an instance failed; retrying')
          scheduleAfterFailure(podName)
        },
      )
    }, ms)
    timers.set(podName, { timer, due })
  }

  function scheduleAfterFailure(podName: string): void {
    schedule(podName, backoffOf(failing, podName).next())
  }

  async function takeSteps(podName: string): Promise<void> {
    const pod = runs.get(podName)
    if (isClosed) return
    if (!pod || hasEnded(pod)) {
      await endReadyWatch(podName)
      if (runs.runOf(podName)) await consoleOf(podName).settle()
      const retryMs = pod && awaitsWriteBack(pod) ? await keptFiles.finish(pod) : undefined
      if (retryMs !== undefined) schedule(podName, retryMs)
      return
    }
    await writeMessages(pod, messagesOf(pod))
    await handleLostNode(pod)
    if (awaitsReadyLine(pod)) await watchReadyLine(pod)
    else await endReadyWatch(podName)
    await continueStop(pod)
  }

  /** Takes the next step of a stop that was requested. */
  async function continueStop(pod: V1Pod): Promise<void> {
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
  }

  /** @returns the Pod with the request; undefined if it does not run */
  async function requestStop(podName: string): Promise<V1Pod | undefined> {
    const pod = runs.get(podName)
    if (!pod || hasEnded(pod)) return undefined
    if (stopRequestedAt(pod) !== undefined) return pod
    const annotated = await pods.annotate(pod, { [STOP_ANNOTATION]: String(Date.now()) })
    runs.put(annotated)
    return annotated
  }

  async function watchReadyLine(pod: V1Pod): Promise<void> {
    const podName = nameOf(pod)
    const { ready } = runOptionsOf(pod)
    if (ready === undefined || readyWatches.get(podName) === runIdOf(pod)) return
    readyWatches.set(podName, runIdOf(pod))
    const line = new ReadyLine(ready)
    let isFound = false
    await consoleOf(podName).watchLines((texts) => {
      const answer = isFound ? false : line.matches(texts)
      if (answer === false) return
      isFound = true
      void markReady(pod, answer === 'too slow')
    })
  }

  async function markReady(pod: V1Pod, isTooSlow: boolean): Promise<void> {
    const podName = nameOf(pod)
    try {
      runs.put(await pods.setReady(pod))
      readyRetries.delete(podName)
      if (isTooSlow)
        await consoleOf(podName).note(
          '[System] The ready expression takes too long to match. The instance counts as ready.',
        )
    } catch (error) {
      log.warn({ err: error, podName }, 'failed to mark an instance as ready; retrying')
      // The next step watches the lines again, from the run's first one.
      readyWatches.delete(podName)
      schedule(podName, backoffOf(readyRetries, podName).next())
    }
  }

  async function endReadyWatch(podName: string): Promise<void> {
    if (readyWatches.delete(podName)) await consoleOf(podName).watchLines(undefined)
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
    await writeMessages(pod, [{ key: 'lost node', text: `The node ${node} does not answer. ${what}` }])
    if (isReplaceable(pod)) await pods.delete(pod, 0)
  }

  async function writeMessages(pod: V1Pod, messages: ClusterMessage[]): Promise<void> {
    const known = written.get(nameOf(pod))
    const { keys } = known?.runId === runIdOf(pod) ? known : { keys: new Set<string>() }
    written.set(nameOf(pod), { runId: runIdOf(pod), keys })
    for (const { key, text } of messages) {
      if (keys.has(key)) continue
      keys.add(key)
      await consoleOf(nameOf(pod)).note(`[System] ${text}`)
    }
  }

  const unwatch = runs.watch((podName) => {
    if (runs.runOf(podName)) return schedule(podName, 0)
    written.delete(podName)
    readyWatches.delete(podName)
    failing.delete(podName)
    readyRetries.delete(podName)
  })
  const activityTimer = setInterval(() => {
    const hasBecomeActive = isActive() && !wasActive
    wasActive = isActive()
    if (!hasBecomeActive) return
    runs.instances().then(
      (instances) => {
        for (const { podName } of instances) schedule(podName, 0)
      },
      // The cluster does not answer. When it does, it reports each Pod again.
      () => undefined,
    )
  }, RETRY_MS)

  return {
    async stop(podName) {
      const pod = await requestStop(podName)
      if (pod) await continueStop(pod)
    },
    async kill(podName) {
      const ended = runs.get(podName)
      if (ended && awaitsWriteBack(ended)) return keptFiles.cancel(ended)
      const pod = await requestStop(podName)
      // Without any grace period the cluster would forget the Pod before its processes have ended.
      if (pod) await pods.delete(pod, 1)
    },
    writeMessages,
    close() {
      isClosed = true
      unwatch()
      clearInterval(activityTimer)
      for (const { timer } of timers.values()) clearTimeout(timer)
    },
  }
}

/** Milliseconds left of a period. A clock that was set back must not prolong it. */
function remainingMs(since: number, periodMs: number): number {
  return Math.min(periodMs, since + periodMs - Date.now())
}

function backoffOf(backoffs: Map<string, Backoff>, podName: string): Backoff {
  const backoff = backoffs.get(podName) ?? createBackoff(RETRY_MS, MAX_BACKOFF_MS)
  backoffs.set(podName, backoff)
  return backoff
}
