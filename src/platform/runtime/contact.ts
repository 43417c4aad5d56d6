import { AppError } from '../errors'
import type { Runtime, RuntimeInstance } from './runtime'

/** After this time without a response of the cluster, the known state no longer counts. */
const CONTACT_TIMEOUT_MS = 15_000

/**
 * @returns the time of the last response of a cluster that has not answered for 15 s, in milliseconds since the epoch
 * (0: it has never answered); undefined while it answers, and for instances of this machine
 */
export function silentSince({ lastContactAt }: Pick<Runtime, 'lastContactAt'>): number | undefined {
  return lastContactAt !== undefined && Date.now() - lastContactAt > CONTACT_TIMEOUT_MS ? lastContactAt : undefined
}

/**
 * Lists the instances for a decision. `Runtime.list` alone has the last known state while the cluster does not answer.
 * @throws AppError UNAVAILABLE if the cluster has not answered for 15 s, or not yet
 */
export async function listInContact(runtime: Pick<Runtime, 'lastContactAt' | 'list'>): Promise<RuntimeInstance[]> {
  // First: after a start it waits for the first response.
  const instances = await runtime.list()
  requireContact(runtime)
  return instances
}

/** @throws AppError UNAVAILABLE if the cluster has not answered for 15 s, or not yet */
export function requireContact(runtime: Pick<Runtime, 'lastContactAt'>): void {
  if (silentSince(runtime) !== undefined) throw clusterDoesNotAnswer()
}

/** @returns the error for a cluster that cannot be reached */
export function clusterDoesNotAnswer(): AppError {
  return new AppError(
    'UNAVAILABLE',
    'The Kubernetes cluster does not answer. Check that it is running, that KUBECONFIG is correct, and that the platform may list and watch Pods.',
  )
}
