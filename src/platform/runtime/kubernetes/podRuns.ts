import { EventEmitter } from 'node:events'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { V1Pod } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import { clusterDoesNotAnswer } from '../contact'
import { describeExit } from '../exitMessages'
import type { InstanceSpec, RuntimeInstance } from '../runtime'
import type { ClusterClient } from './clusterClient'
import { startInformer } from './informer'
import type { ConsoleRun } from './console/podConsole'
import { closingLinesOf, exitOf, instanceOf } from './podInstance'
import type { Pods } from './pods'
import { isOfState, MANAGED_BY_SELECTOR } from './podSpec'
import { hasEnded, hasLog, isHeldByOthers, nameOf, runIdOf } from './podState'

/** Time for a deleted Pod to be gone. */
const DELETION_TIMEOUT_MS = 20_000
/** Time for the first list of Pods, before which no run is known. */
const FIRST_LIST_MS = 5000
/** Interval of probes to a cluster that sends no changes. */
const PROBE_MS = 5000

/** The runs of all instances: the Pods of the cluster, and runs whose Pod is gone or could not be created. */
export interface PodRuns {
  /** The instance's Pod, as last known to this platform. */
  get(podName: string): V1Pod | undefined
  pods(): V1Pod[]
  /** All runs as last known. @throws AppError UNAVAILABLE if the cluster has never answered */
  instances(): Promise<RuntimeInstance[]>
  /** The present run, for the console. */
  runOf(podName: string): ConsoleRun | undefined
  /** Adds the Pod that a request has just returned. */
  put(pod: V1Pod | undefined): void
  /** Records a start that failed before there was a Pod. @param isTemporary as in `InstanceExit`; default: false */
  startFailed(spec: InstanceSpec, failure: string, isTemporary?: boolean): void
  /** Deletes a Pod that has ended, and its run. @throws Error if it is held, or not gone in time; as `Pods.delete` */
  forget(pod: V1Pod): Promise<void>
  /** Forgets a run without a Pod. */
  forgetRun(podName: string): void
  /** Calls the listener after every change of a run. @returns a function that unsubscribes. */
  watch(listener: (podName: string) => void): () => void
  /** The time of the cluster's last message, in milliseconds since the epoch; 0: none yet. */
  readonly syncedAt: number
  close(): Promise<void>
}

type RunWithoutPod = { instance: RuntimeInstance } & Pick<ConsoleRun, 'isLogGone' | 'closingLines'>

/**
 * Keeps a copy of the instances' Pods up to date by a watch, until it is closed.
 * @param stateId Pods of another state are ignored
 * @param isActive whether this platform is the manager
 */
export function watchPodRuns(
  client: ClusterClient,
  pods: Pods,
  stateId: string,
  isActive: () => boolean,
  log: Logger,
): PodRuns {
  const changes = new EventEmitter().setMaxListeners(0)
  const emit = (podName: string) => changes.emit('changed', podName)
  const withoutPod = new Map<string, RunWithoutPod>()
  /** The instance that each object of the informer describes. A Pod that changes gets a new object. */
  const described = new WeakMap<V1Pod, RuntimeInstance>()
  /** When the end of a run was first seen here, by run id. */
  const seenEnds = new Map<string, number>()
  /** The ids of Pods that are deleted in order to forget them. */
  const forgotten = new Set<string>()
  let isWarned = false

  const informer = startInformer<V1Pod>({
    client,
    path: `/api/v1/namespaces/${client.namespace}/pods`,
    labelSelector: MANAGED_BY_SELECTOR,
    log,
    isIncluded(pod) {
      const isOwn = isOfState(pod, stateId)
      if (!isOwn && !isWarned) {
        isWarned = true
        log.warn(
          { podName: nameOf(pod), namespace: client.namespace },
          'a platform with another state has instances in this namespace; they are left alone',
        )
      }
      return isOwn
    },
    onChange(pod) {
      if (hasEnded(pod)) endedAt(pod)
      withoutPod.delete(nameOf(pod))
      emit(nameOf(pod))
    },
    onDelete(pod) {
      const at = endedAt(pod)
      seenEnds.delete(runIdOf(pod))
      const isForgotten = forgotten.delete(runIdOf(pod))
      if (!isForgotten && informer.get(nameOf(pod)) === undefined)
        withoutPod.set(nameOf(pod), {
          instance: { ...describe(pod), state: 'EXITED', exit: exitOf(pod, at) },
          isLogGone: hasLog(pod),
          closingLines: closingLinesOf(pod),
        })
      emit(nameOf(pod))
    },
  })

  function endedAt(pod: V1Pod): number {
    const at = seenEnds.get(runIdOf(pod)) ?? Date.now()
    seenEnds.set(runIdOf(pod), at)
    return at
  }

  function describe(pod: V1Pod): RuntimeInstance {
    const instance = described.get(pod) ?? instanceOf(pod, seenEnds.get(runIdOf(pod)))
    described.set(pod, instance)
    return instance
  }

  const isGone = (pod: V1Pod) => informer.get(nameOf(pod))?.metadata?.uid !== runIdOf(pod)

  async function requireFirstList(): Promise<void> {
    if (informer.syncedAt === 0) await Promise.race([informer.ready, delay(FIRST_LIST_MS, undefined, { ref: false })])
    if (informer.syncedAt === 0) throw clusterDoesNotAnswer()
  }

  const probe = setInterval(() => {
    if (Date.now() - informer.syncedAt > PROBE_MS) informer.probe()
  }, PROBE_MS)

  return {
    get: (podName) => informer.get(podName),
    pods: () => informer.all(),
    async instances() {
      await requireFirstList()
      return [...informer.all().map(describe), ...[...withoutPod.values()].map(({ instance }) => instance)]
    },
    runOf(podName) {
      const pod = informer.get(podName)
      if (pod) return consoleRunOf(pod)
      const over = withoutPod.get(podName)
      // Only the manager knows of starts that the cluster has refused since, and each run ends in the console once.
      if (!over || !isActive()) return undefined
      const { instance, isLogGone, closingLines } = over
      return { runId: instance.runId, hasLog: false, hasEnded: true, isLogGone, closingLines }
    },
    put(pod) {
      if (pod) informer.put(pod)
    },
    startFailed(spec, failure, isTemporary = false) {
      withoutPod.set(spec.podName, failedStart(spec, failure, isTemporary))
      emit(spec.podName)
    },
    async forget(pod) {
      forgotten.add(runIdOf(pod))
      await pods.delete(pod, 0)
      // The finalizers of others may hold a Pod for any time, and other instances must not wait for it.
      await waitUntil(
        () => isGone(pod) || isHeldByOthers(informer.get(nameOf(pod)) ?? pod),
        changes,
        DELETION_TIMEOUT_MS,
      )
      if (!isGone(pod)) throw new Error(`The Pod ${nameOf(pod)} was deleted but is not gone yet`)
    },
    forgetRun: (podName) => void withoutPod.delete(podName),
    watch(listener) {
      changes.on('changed', listener)
      return () => changes.off('changed', listener)
    },
    get syncedAt() {
      return informer.syncedAt
    },
    async close() {
      clearInterval(probe)
      await informer.close()
    },
  }
}

function failedStart({ podName, port }: InstanceSpec, failure: string, isTemporary: boolean): RunWithoutPod {
  const at = Date.now()
  const exit = { code: null, signal: null, at, requested: false, failure, ...(isTemporary && { isTemporary }) }
  return {
    instance: { podName, runId: randomUUID(), state: 'EXITED', ip: '', port, startedAt: at, exit },
    isLogGone: false,
    closingLines: [describeExit(exit)],
  }
}

function consoleRunOf(pod: V1Pod): ConsoleRun {
  return {
    runId: runIdOf(pod),
    hasLog: hasLog(pod),
    hasEnded: hasEnded(pod),
    isLogGone: false,
    closingLines: closingLinesOf(pod),
  }
}

/** Waits until a condition holds. @returns false if it does not hold when the time is up */
function waitUntil(condition: () => boolean, changes: EventEmitter, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      changes.off('changed', recheck)
      resolve(condition())
    }
    const recheck = () => condition() && end()
    const timer = setTimeout(end, timeoutMs)
    changes.on('changed', recheck)
    recheck()
  })
}
