import { constants } from 'node:os'
import type { V1Container, V1ContainerStateTerminated, V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { clusterStartFailure, describeExit, startFailureMessage, STOPPED_BEFORE } from '../exitMessages'
import type { InstanceExit, RuntimeInstance } from '../runtime'
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

/** Reasons in the status of a Pod that the cluster ended (Kubernetes: "Pod lifecycle", "Node-pressure eviction"). */
const INTERRUPTIONS = [
  'Evicted',
  'NodeLost',
  'NodeShutdown',
  'Terminated',
  'Preempting',
  'UnexpectedAdmissionError',
  'NodeAffinity',
]

/** Differences between the clocks of nodes up to this have no effect. Times of the API are whole seconds. */
const CLOCK_TOLERANCE_MS = 2000

/** How long the programs whose finalizers hold a Pod have to remove them. */
const HELD_MS = 10_000

/**
 * How `cp` fails for files that may not be read, and on a disk that is full or does not answer, in the texts of glibc
 * and musl.
 */
const TEMPORARY_COPY_FAILURE =
  /Permission denied|No space left|uota exceeded|I\/O error|Input\/output error|Stale (?:NFS )?file handle/

/** Why containers wait, in words for users. */
const PULL_REASONS = [
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
]

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
const containerOf = (pod: V1Pod): V1Container | undefined => pod.spec?.containers.find(({ name }) => name === CONTAINER)

const statusOfContainer = (pod: V1Pod, name: string): V1ContainerStatus | undefined =>
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
 * because it may wait for ever.
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

function stateOf(pod: V1Pod): RuntimeInstance['state'] {
  if (awaitsWriteBack(pod) || isHeldByOthers(pod)) return 'STOPPING'
  if (hasEnded(pod)) return 'EXITED'
  if (stopRequestedAt(pod) !== undefined || pod.metadata?.deletionTimestamp !== undefined) return 'STOPPING'
  if (statusOfContainer(pod, CONTAINER)?.state?.running === undefined) return 'STARTING'
  const isReady =
    runOptionsOf(pod).ready === undefined ||
    pod.status?.conditions?.some(({ type, status }) => type === READY_CONDITION && status === 'True')
  return isReady ? 'RUNNING' : 'STARTING'
}

const waitsForOf = (pod: V1Pod) => (isCopying(pod) ? 'the copy of its files' : 'its program to start')

/** The run of a Pod. @param seenEndedAt when the platform first saw that it had ended */
export function instanceOf(pod: V1Pod, seenEndedAt = Date.now()): RuntimeInstance {
  const state = stateOf(pod)
  return {
    podName: nameOf(pod),
    runId: runIdOf(pod),
    state,
    ip: pod.status?.podIP ?? '',
    port: runOptionsOf(pod).port,
    startedAt: startOf(pod),
    exit: state === 'EXITED' ? exitOf(pod, seenEndedAt) : undefined,
    waitsFor: state === 'STARTING' && !awaitsReadyLine(pod) ? waitsForOf(pod) : undefined,
    node: pod.spec?.nodeName,
  }
}

/**
 * When a run started, in milliseconds since the epoch. The node's clock says when the program started. If that time is
 * impossible, the clock is wrong, and only the time since the node accepted the Pod counts.
 */
function startOf(pod: V1Pod): number {
  const { running, terminated } = statusOfContainer(pod, CONTAINER)?.state ?? {}
  const startedAt = timeOf(running?.startedAt ?? terminated?.startedAt)
  const createdAt = timeOf(pod.metadata?.creationTimestamp) ?? Date.now()
  if (startedAt === undefined) return createdAt
  const isPossible = startedAt >= createdAt - CLOCK_TOLERANCE_MS && startedAt <= Date.now() + CLOCK_TOLERANCE_MS
  if (isPossible) return startedAt
  const acceptedAt = timeOf(pod.status?.startTime) ?? startedAt
  const scheduled = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'True')
  return (timeOf(scheduled?.lastTransitionTime) ?? createdAt) + Math.max(0, startedAt - acceptedAt)
}

/** Dates are text in watches and lists, which bypass the library's serializer. */
function timeOf(date: Date | string | undefined): number | undefined {
  const at = date === undefined ? NaN : new Date(date).getTime()
  return Number.isNaN(at) ? undefined : at
}

/**
 * How the run of a Pod ended, including Pods that were deleted before their end.
 * @param at when the platform saw the end, in milliseconds since the epoch: the node's clock may differ, and has whole
 * seconds
 */
export function exitOf(pod: V1Pod, at: number): InstanceExit {
  const ended = statusOfContainer(pod, CONTAINER)?.state?.terminated
  const requested = stopRequestedAt(pod) !== undefined
  const interruption = requested ? undefined : interruptionOf(pod)
  const copyFailure = ended ? undefined : copyFailureOf(pod)
  const rejection = ended || requested || interruption !== undefined ? undefined : rejectionOf(pod)
  const failure = ended ? startFailureOf(ended, pod) : (copyFailure ?? rejection)
  const signal = ended && failure === undefined ? signalOf(ended) : undefined
  const killed = ended?.reason === 'OOMKilled' ? killedForMemory(pod) : undefined
  return {
    code: ended && !signal && failure === undefined ? ended.exitCode : null,
    signal: signal ?? null,
    at,
    requested,
    orderly:
      ended !== undefined && (requested || ended.exitCode === 0) && failure === undefined && signal !== 'SIGKILL',
    failure: failure ?? (ended || interruption !== undefined ? undefined : STOPPED_BEFORE),
    ...((copyFailure === undefined ? rejection !== undefined : TEMPORARY_COPY_FAILURE.test(copyFailure)) && {
      isTemporary: true,
    }),
    ...(interruption !== undefined && { interruption: `Ended by the cluster: ${interruption}` }),
    ...(killed !== undefined && { killed }),
  }
}

function killedForMemory(pod: V1Pod): string {
  const limit = containerOf(pod)?.resources?.limits?.memory
  return limit ? `Killed for memory: it may use ${limit} bytes.` : 'Killed for memory: its node had none left.'
}

/** Why the cluster ended a run without a stop request; undefined if the program ended by itself. */
function interruptionOf(pod: V1Pod): string | undefined {
  const { reason, message, conditions } = pod.status ?? {}
  if (reason !== undefined && INTERRUPTIONS.includes(reason)) return `${reason}${message ? `: ${message}` : ''}`
  const disrupted = conditions?.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True')
  if (disrupted) return disrupted.message || disrupted.reason || 'disrupted'
  return pod.metadata?.deletionTimestamp === undefined && hasEnded(pod)
    ? undefined
    : 'its Pod was deleted in the cluster'
}

/**
 * Why the cluster has not started the program: a node has refused the Pod, for lack of CPU, memory or places for Pods,
 * or a container that a webhook has added has failed.
 */
function rejectionOf({ status }: V1Pod): string | undefined {
  if (status?.phase !== 'Failed') return undefined
  if (status.reason !== undefined) return clusterStartFailure(status.message || status.reason)
  for (const { name, state } of status.initContainerStatuses ?? []) {
    const exitCode = state?.terminated?.exitCode ?? 0
    if (name !== COPY_CONTAINER && exitCode !== 0)
      return clusterStartFailure(
        `the container "${name}", which the cluster has added, ended with exit code ${exitCode}`,
      )
  }
  return undefined
}

/** The exit code of a program that a signal ended is 128 plus the signal's number. */
function signalOf({ exitCode, signal }: V1ContainerStateTerminated): string | undefined {
  const number = signal || exitCode - 128
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0]
}

/** The reason why a container could not be started, as text for users. */
function startFailureOf({ reason, message = '' }: V1ContainerStateTerminated, pod: V1Pod): string | undefined {
  if (reason !== 'StartError' && reason !== 'ContainerCannotRun') return undefined
  const { command: [program = ''] = [], image = '' } = containerOf(pod) ?? {}
  const isMissing = /executable file not found|no such file or directory/.test(message)
  if (isMissing && program === 'java')
    return `Java is not installed in the image "${image}". Choose one with Java in run.image, or set run.command.`
  if (isMissing) return startFailureMessage('ENOENT', program)
  if (/permission denied/.test(message)) return startFailureMessage('EACCES', program)
  return `Could not be started: ${message || reason}`
}

function copyFailureOf(pod: V1Pod): string | undefined {
  const ended = statusOfContainer(pod, COPY_CONTAINER)?.state?.terminated
  if (!ended || ended.exitCode === 0) return undefined
  // BusyBox warns last that it cannot preserve the owner of the working directory, and succeeds all the same.
  const lines = (ended.message ?? '').split('\n').filter((line) => line.trim() !== '' && !line.includes('preserve'))
  const reason =
    lines.findLast((line) => TEMPORARY_COPY_FAILURE.test(line)) ?? lines.at(-1) ?? `exit code ${ended.exitCode}`
  return `Could not be started: its files could not be copied (${reason}).`
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

/**
 * What the cluster says about a run that does not run yet: a line for its console, and a key for lines that mean the
 * same.
 */
export interface ClusterMessage {
  key: string
  text: string
}

/** @returns why the status of a Pod says that it cannot start; empty if the status gives no reason */
export function messagesOf(pod: V1Pod): ClusterMessage[] {
  const messages: ClusterMessage[] = []
  for (const { image, state } of [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
  ]) {
    const { reason = '', message = '' } = state?.waiting ?? {}
    if (PULL_REASONS.includes(reason))
      messages.push({ key: 'image', text: `Image ${image} cannot be pulled: ${message || reason}` })
    else if (reason.endsWith('Error'))
      messages.push({ key: 'container', text: `The container cannot be created: ${message || reason}` })
  }
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable')
    messages.push({
      key: `node ${schedulerReasonsOf(scheduled.message ?? '')}`,
      text: `Unschedulable: ${withClaim(scheduled.message ?? '', pod)}`,
    })
  return messages
}

/** The scheduler's reasons without their numbers of nodes, in one order. */
function schedulerReasonsOf(message: string): string {
  const reasons = message.split(/[,.:]/).map((part) => part.replaceAll(/\d/g, '').trim())
  return [...new Set(reasons)].sort().join()
}

/** Adds the name of a Pod's claim to a message about it: the scheduler does not name unbound claims. */
function withClaim(message: string, pod: V1Pod): string {
  const claim = pod.spec?.volumes?.find((volume) => volume.persistentVolumeClaim)?.persistentVolumeClaim?.claimName
  if (claim === undefined || !/persistentvolumeclaim/i.test(message) || message.includes(`"${claim}"`)) return message
  return `${message.replace(/\.?$/, '.')} Its claim is "${claim}".`
}

/** The lines of the platform after the output of a run that has ended. */
export function closingLinesOf(pod: V1Pod): string[] {
  const exit = exitOf(pod, 0)
  return [...(exit.killed === undefined ? [] : [exit.killed]), describeExit(exit)]
}
