import { constants } from 'node:os'
import type { V1ContainerStateTerminated, V1Pod } from '@kubernetes/client-node'
import { clusterStartFailure, describeExit, startFailureMessage, STOPPED_BEFORE } from '../exitMessages'
import type { InstanceExit, RuntimeInstance } from '../runtime'
import { CONTAINER, COPY_CONTAINER } from './podSpec'
import {
  awaitsReadyLine,
  containerOf,
  hasEnded,
  isCopying,
  nameOf,
  runIdOf,
  runOptionsOf,
  stateOf,
  statusOfContainer,
  stopRequestedAt,
  timeOf,
} from './podState'

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

/**
 * How `cp` fails for files that may not be read, and on a disk that is full or does not answer, in the texts of glibc
 * and musl.
 */
const TEMPORARY_COPY_FAILURE =
  /Permission denied|No space left|uota exceeded|I\/O error|Input\/output error|Stale (?:NFS )?file handle/

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

/** The lines of the platform after the output of a run that has ended. */
export function closingLinesOf(pod: V1Pod): string[] {
  const exit = exitOf(pod, 0)
  return [...(exit.killed === undefined ? [] : [exit.killed]), describeExit(exit)]
}
