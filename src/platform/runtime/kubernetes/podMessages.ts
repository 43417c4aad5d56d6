import type { V1Pod } from '@kubernetes/client-node'
import type { PodConsole } from './console/podConsole'
import { nameOf, runIdOf } from './podState'

/** Maximum number of messages of one run, because the scheduler's reasons may alternate for days. */
const MAX_PER_RUN = 50

/** Why a container waits when its image cannot be pulled. */
const PULL_REASONS = [
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
]

/**
 * What the cluster says about a run that does not run yet: a line for its console, and a key for lines that mean the
 * same.
 */
export interface ClusterMessage {
  key: string
  text: string
}

/** Writes the cluster's messages to the consoles of instances, each message once for each run. */
export interface PodMessages {
  write(pod: V1Pod, messages: ClusterMessage[]): Promise<void>
  /** Forgets an instance that does not exist any more. */
  forget(podName: string): void
}

export function createPodMessages(consoleOf: (podName: string) => PodConsole): PodMessages {
  /** The messages written for the present run, by instance. */
  const written = new Map<string, { runId: string; keys: Set<string> }>()
  return {
    async write(pod, messages) {
      const known = written.get(nameOf(pod))
      const { keys } = known?.runId === runIdOf(pod) ? known : { keys: new Set<string>() }
      written.set(nameOf(pod), { runId: runIdOf(pod), keys })
      for (const { key, text } of messages) {
        if (keys.has(key) || keys.size === MAX_PER_RUN) continue
        await consoleOf(nameOf(pod)).note(`[System] ${text}`)
        // Not before: a message that could not be stored is written by the next call.
        keys.add(key)
      }
    },
    forget: (podName) => void written.delete(podName),
  }
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
