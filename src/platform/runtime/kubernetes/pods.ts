import type { V1Pod } from '@kubernetes/client-node'
import { ClusterRefusal, type ClusterClient } from './clusterClient'
import { ENDED_DEADLINE_SECONDS, nameOf, runIdOf } from './podState'
import { KEEP_FINALIZER, markOf, READY_CONDITION } from './podSpec'

/** The platform's name as a writer of fields (Kubernetes: "Server-Side Apply"). */
export const FIELD_MANAGER = 'quarterdeck'

/**
 * The changes of Pods that the runtime makes. All throw ClusterRefusal, and AppError UNAVAILABLE if the cluster does
 * not answer.
 */
export interface Pods {
  apply(pod: V1Pod): Promise<V1Pod>
  /** Sets annotations. @returns undefined if this Pod is gone */
  annotate(pod: V1Pod, annotations: Record<string, string>): Promise<V1Pod | undefined>
  /**
   * Sets the label by which the platform finds its Pods on a Pod of this state that lost it, and that may still run.
   * @returns undefined if there is none of this name
   */
  markAgain(podName: string, stateId: string): Promise<V1Pod | undefined>
  /** Sets the condition that opens the Pod's readiness gate. @returns undefined if this Pod is gone */
  setReady(pod: V1Pod): Promise<V1Pod | undefined>
  /** Ends all containers of this Pod; the Pod stays, with their statuses. @returns undefined if this Pod is gone */
  endContainers(pod: V1Pod): Promise<V1Pod | undefined>
  /** Removes the platform's finalizer, and no other. @returns undefined if this Pod is gone, or is deleted by this */
  release(pod: V1Pod): Promise<V1Pod | undefined>
  /**
   * Deletes this Pod, but no other one of its name: SIGTERM, and SIGKILL after the grace period. Does nothing if it is
   * gone.
   */
  delete(pod: V1Pod, graceSeconds: number): Promise<void>
}

export function createPods(client: ClusterClient): Pods {
  const { namespace } = client

  async function ifPresent<Result>(change: Promise<Result>): Promise<Result | undefined> {
    return change.catch((error: unknown) => {
      // 409 and 422: a Pod with another uid has the name.
      if (error instanceof ClusterRefusal && [404, 409, 422].includes(error.status)) return undefined
      throw error
    })
  }

  return {
    apply: (pod) =>
      client.call((core, { setHeaderOptions, PatchStrategy }) =>
        core.patchNamespacedPod(
          { name: nameOf(pod), namespace, body: pod, fieldManager: FIELD_MANAGER, force: true },
          setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
        ),
      ),
    annotate: (pod, annotations) =>
      ifPresent(
        client.call((core, { setHeaderOptions, PatchStrategy }) =>
          core.patchNamespacedPod(
            {
              name: nameOf(pod),
              namespace,
              body: { metadata: { uid: runIdOf(pod), annotations } },
              fieldManager: FIELD_MANAGER,
            },
            setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
          ),
        ),
      ),
    async markAgain(podName, stateId) {
      const pod = await ifPresent(
        client.call((core, { setHeaderOptions, PatchStrategy }) =>
          core.patchNamespacedPod(
            { name: podName, namespace, body: markOf(stateId), fieldManager: FIELD_MANAGER },
            setHeaderOptions('Content-Type', PatchStrategy.JsonPatch),
          ),
        ),
      )
      return pod?.metadata?.uid === undefined ? undefined : pod
    },
    setReady: (pod) =>
      ifPresent(
        client.call((core, { setHeaderOptions, PatchStrategy }) =>
          core.patchNamespacedPodStatus(
            {
              name: nameOf(pod),
              namespace,
              body: {
                metadata: { uid: runIdOf(pod) },
                status: { conditions: [{ type: READY_CONDITION, status: 'True', lastTransitionTime: new Date() }] },
              },
              fieldManager: FIELD_MANAGER,
            },
            setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
          ),
        ),
      ),
    endContainers: (pod) =>
      ifPresent(
        client.call((core, { setHeaderOptions, PatchStrategy }) =>
          core.patchNamespacedPod(
            {
              name: nameOf(pod),
              namespace,
              body: { metadata: { uid: runIdOf(pod) }, spec: { activeDeadlineSeconds: ENDED_DEADLINE_SECONDS } },
              fieldManager: FIELD_MANAGER,
            },
            setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
          ),
        ),
      ),
    release: (pod) =>
      ifPresent(
        client.call((core, { setHeaderOptions, PatchStrategy }) =>
          core.patchNamespacedPod(
            {
              name: nameOf(pod),
              namespace,
              body: { metadata: { uid: runIdOf(pod), '$deleteFromPrimitiveList/finalizers': [KEEP_FINALIZER] } },
              fieldManager: FIELD_MANAGER,
            },
            setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
          ),
        ),
      ),
    async delete(pod, graceSeconds) {
      await ifPresent(
        client.call((core) =>
          core.deleteNamespacedPod({
            name: nameOf(pod),
            namespace,
            body: { gracePeriodSeconds: graceSeconds, preconditions: { uid: runIdOf(pod) } },
          }),
        ),
      )
    },
  }
}
