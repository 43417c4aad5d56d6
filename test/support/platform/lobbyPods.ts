import type { V1ContainerState, V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { podOf, STOP_ANNOTATION } from '../../../src/platform/runtime/kubernetes/podSpec'
import type { InstanceSpec } from '../../../src/platform/runtime/runtime'

/** An instance with everything that a Pod can have of it. */
export const LOBBY: InstanceSpec = {
  podName: 'ab12cd-lobby',
  deployment: 'lobby',
  command: ['java', '-Dcost=$5', '$(HOME)'],
  image: undefined,
  node: 'node-a',
  dataDirectory: '/network/lobby',
  copy: false,
  mounts: ['/maps'],
  hasPeers: true,
  env: { PRICE: '$$ and $(PORT)' },
  port: 25_565,
  ready: 'Done',
  stop: { command: 'stop', timeoutSeconds: 30 },
  limits: { cores: 1.5, memoryBytes: 2 ** 30 },
}
export const POD_SETTINGS = {
  claim: 'share',
  image: 'java:21',
  user: 1000,
  stateId: 'state-1',
  peersDirectory: (podName: string) => `/.quarterdeck-peers/${podName}`,
  copies: {
    pathOf: (podName: string) => `/.quarterdeck-copies/${podName}`,
    writeBack: async () => 0,
    remove: async () => undefined,
  },
}

/** What a kubelet reports of a container, or of an init container. */
export const containerStatus = (name: string, state: V1ContainerState): V1ContainerStatus => ({
  name,
  image: 'java:21',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
})

/** The Pod of the lobby, with a status as a kubelet reports it. */
export function podWith(
  state: V1ContainerState | undefined,
  change: Partial<V1Pod['metadata']> = {},
  status: V1Pod['status'] = {},
): V1Pod {
  const pod = podOf(LOBBY, POD_SETTINGS)
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      uid: 'run-1',
      ...change,
      annotations: { ...pod.metadata?.annotations, ...change?.annotations },
    },
    status: {
      phase: 'Running',
      ...status,
      ...(state && { containerStatuses: [containerStatus('instance', state)] }),
    },
  }
}
export const running = { running: { startedAt: new Date(5000) } }
export const ended = (exitCode: number, reason = 'Error', message?: string) => ({
  terminated: { exitCode, reason, containerID: 'c', ...(message !== undefined && { message }) },
})
export const stopped = { annotations: { [STOP_ANNOTATION]: '1000' } }
export const deleted = { deletionTimestamp: new Date() }

/** What an admission webhook, such as that of a service mesh, makes of a Pod: another container, with a volume. */
export function withSidecar(pod: V1Pod): V1Pod {
  const { containers, volumes = [] } = pod.spec!
  const sidecar = {
    name: 'proxy',
    image: 'proxy:1',
    command: ['proxy'],
    resources: { limits: { memory: '64' } },
    volumeMounts: [{ name: 'proxy-data', mountPath: '/data' }],
  }
  const spec = { containers: [sidecar, ...containers], volumes: [{ name: 'proxy-data', emptyDir: {} }, ...volumes] }
  return { ...pod, spec }
}
