import type { V1Container, V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import type { RuntimeInstance } from '../runtime'
import {
  CONTAINER,
  COPY_CONTAINER,
  COPY_VOLUME,
  KEEP_FINALIZER,
  READY_CONDITION,
  RUN_ANNOTATION,
  RunOptions,
  STOP_ANNOTATION,
} from './podSpec'

/** How long the programs whose finalizers hold a Pod have to remove them. */
const HELD_MS = 10_000

/** The name of a Pod, which is the pod name of its instance. */
export const nameOf = (pod: V1Pod): string => pod.metadata?.name ?? ''
/** The uid of a Pod, which identifies the run. */
export const runIdOf = (pod: V1Pod): string => pod.metadata?.uid ?? ''

const DEFAULT_OPTIONS: RunOptions = { stop: { timeoutSeconds: 30 } }

/** The options of a Pod's run. A Pod without a valid annotation has the default ones. */
export function runOptionsOf(pod: V1Pod): RunOptions {
  try {
    const value: unknown = JSON.parse(pod.metadata?.annotations?.[RUN_ANNOTATION] ?? '')
    return RunOptions.safeParse(value).data ?? DEFAULT_OPTIONS
  } catch {
    return DEFAULT_OPTIONS
  }
}

/** When a stop was requested, in milliseconds since the epoch. */
export function stopRequestedAt(pod: V1Pod): number | undefined {
  const at = pod.metadata?.annotations?.[STOP_ANNOTATION] ?? ''
  return /^\d{1,15}$/.test(at) ? Number(at) : undefined
}

/** The container of the Pod's program. The cluster may have injected others, also before it. */
export const containerOf = (pod: V1Pod): V1Container | undefined =>
  pod.spec?.containers.find(({ name }) => name === CONTAINER)

/** The status of a container, or of an init container. */
export const statusOfContainer = (pod: V1Pod, name: string): V1ContainerStatus | undefined =>
  [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].find(
    (status) => status.name === name,
  )

/** Whether the Pod's program has started, so that it has a log. */
export function hasLog(pod: V1Pod): boolean {
  const { running, terminated } = statusOfContainer(pod, CONTAINER)?.state ?? {}
  return running !== undefined || (terminated !== undefined && terminated.containerID !== undefined)
}

/** Whether the program has ended, or the Pod is gone but for a finalizer. */
export function hasEnded(pod: V1Pod): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata ?? {}
  return (
    // The kubelet has finished, or the deletion was forced; only a finalizer holds the Pod.
    (deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0) ||
    pod.status?.phase === 'Succeeded' ||
    pod.status?.phase === 'Failed' ||
    statusOfContainer(pod, CONTAINER)?.state?.terminated !== undefined
  )
}

/** The shortest deadline of a Pod, which is over when its program has ended (Kubernetes: "activeDeadlineSeconds"). */
export const ENDED_DEADLINE_SECONDS = 1

/**
 * Whether containers that the cluster has added run on beside a program that has ended. They would keep the Pod, with
 * all that it reserves on its node. Those that Kubernetes knows as sidecars (init containers) end by themselves.
 */
export function hasOthersRunning({ metadata, spec, status }: V1Pod): boolean {
  const containers = status?.containerStatuses ?? []
  return (
    metadata?.deletionTimestamp === undefined &&
    status?.phase === 'Running' &&
    spec?.activeDeadlineSeconds !== ENDED_DEADLINE_SECONDS &&
    containers.some(({ name, state }) => name === CONTAINER && state?.terminated !== undefined) &&
    containers.some(({ name, state }) => name !== CONTAINER && state?.running !== undefined)
  )
}

/** Whether the cluster has not started the Pod yet, and no stop was requested. */
export function isPending(pod: V1Pod): boolean {
  return (
    pod.status?.phase === 'Pending' &&
    stopRequestedAt(pod) === undefined &&
    pod.metadata?.deletionTimestamp === undefined
  )
}

/**
 * Whether a node fills the copy of the Pod's instance. A copy that waits, for its image or a volume, does not count,
 * because it may wait forever.
 */
export function isCopying(pod: V1Pod): boolean {
  const { running } = statusOfContainer(pod, COPY_CONTAINER)?.state ?? {}
  return running !== undefined && !hasEnded(pod) && pod.metadata?.deletionTimestamp === undefined
}

/** Whether the Pod's run has ended, and the files of `keep` are not written back yet. */
export function awaitsWriteBack(pod: V1Pod): boolean {
  return hasEnded(pod) && (pod.metadata?.finalizers?.includes(KEEP_FINALIZER) ?? false)
}

/** The finalizers of other programs that hold a Pod whose run has ended, and whose deletion has begun. */
function holdersOf(pod: V1Pod): string[] {
  const { deletionTimestamp, finalizers = [] } = pod.metadata ?? {}
  return deletionTimestamp !== undefined && hasEnded(pod) ? finalizers.filter((name) => name !== KEEP_FINALIZER) : []
}

/** Whether other programs hold the Pod, so that its name is not free yet. */
export const isHeldByOthers = (pod: V1Pod): boolean => holdersOf(pod).length > 0

/** How long a Pod may still be held before that is a problem, in milliseconds; undefined if it is not held. */
export function holdTimeLeft(pod: V1Pod): number | undefined {
  const since = timeOf(pod.metadata?.deletionTimestamp)
  return since === undefined || !isHeldByOthers(pod) ? undefined : since + HELD_MS - Date.now()
}

/** Why the cluster keeps a Pod that is held, as text for users. */
export function heldProblem(pod: V1Pod): string {
  const holders = holdersOf(pod).join(', ')
  return `The cluster keeps its Pod until other programs have removed their finalizers (${holders}).`
}

/** Whether the Pod's run needs no further steps. */
export function isOver(pod: V1Pod): boolean {
  return hasEnded(pod) && !awaitsWriteBack(pod) && !isHeldByOthers(pod)
}

/** Whether the Pod's program runs and is not ready yet. */
export function awaitsReadyLine(pod: V1Pod): boolean {
  return stateOf(pod) === 'STARTING' && statusOfContainer(pod, CONTAINER)?.state?.running !== undefined
}

/** The state of the Pod's run. */
export function stateOf(pod: V1Pod): RuntimeInstance['state'] {
  if (awaitsWriteBack(pod) || isHeldByOthers(pod)) return 'STOPPING'
  if (hasEnded(pod)) return 'EXITED'
  if (stopRequestedAt(pod) !== undefined || pod.metadata?.deletionTimestamp !== undefined) return 'STOPPING'
  if (statusOfContainer(pod, CONTAINER)?.state?.running === undefined) return 'STARTING'
  const isReady =
    runOptionsOf(pod).ready === undefined ||
    pod.status?.conditions?.some(({ type, status }) => type === READY_CONDITION && status === 'True')
  return isReady ? 'RUNNING' : 'STARTING'
}

/** Milliseconds since the epoch. Dates are text in watches and lists, which bypass the library's serializer. */
export function timeOf(date: Date | string | undefined): number | undefined {
  const at = date === undefined ? NaN : new Date(date).getTime()
  return Number.isNaN(at) ? undefined : at
}

/**
 * When a Pod that the cluster deletes, because its node does not answer, should have been gone.
 * @returns milliseconds since the epoch; undefined if it is not such a Pod. The node may still run the program
 */
export function lostSince(pod: V1Pod): number | undefined {
  const isOfLostNode = pod.status?.conditions?.some(
    ({ type, status, reason }) =>
      type === 'DisruptionTarget' && status === 'True' && reason === 'DeletionByTaintManager',
  )
  return isOfLostNode && !hasEnded(pod) ? timeOf(pod.metadata?.deletionTimestamp) : undefined
}

/**
 * Whether the Pod has its own copy of the files, so that another Pod can replace it while its node may still run the
 * program.
 */
export function isReplaceable(pod: V1Pod): boolean {
  return pod.spec?.volumes?.some(({ name, emptyDir }) => name === COPY_VOLUME && emptyDir !== undefined) ?? false
}
