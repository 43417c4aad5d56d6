import type { V1ContainerState, V1Pod } from '@kubernetes/client-node'
import {
  podOf,
  READY_CONDITION,
  RUN_ANNOTATION,
  STOP_ANNOTATION,
  KEEP_FINALIZER,
} from '../../../../src/platform/runtime/kubernetes/podSpec'
import { instanceOf } from '../../../../src/platform/runtime/kubernetes/podInstance'
import { messagesOf } from '../../../../src/platform/runtime/kubernetes/podMessages'
import {
  hasEnded,
  isCopying,
  isOver,
  isReplaceable,
  lostSince,
  runOptionsOf,
  stopRequestedAt,
} from '../../../../src/platform/runtime/kubernetes/podState'
import {
  containerStatus,
  deleted,
  ended,
  LOBBY,
  POD_SETTINGS,
  podWith,
  running,
  stopped,
  withSidecar,
} from '../../../support/platform/lobbyPods'

test.each<[state: string, of: string, pod: V1Pod]>([
  ['STARTING', 'a Pod that waits for a node', podWith(undefined, {}, { phase: 'Pending' })],
  ['STARTING', 'a program that has not printed its ready line', podWith(running)],
  [
    'RUNNING',
    'a program that has printed it',
    podWith(running, {}, { conditions: [{ type: READY_CONDITION, status: 'True' }] }),
  ],
  ['STOPPING', 'a requested stop', podWith(running, stopped)],
  ['STOPPING', 'a Pod that is being deleted', podWith(running, deleted)],
  ['EXITED', 'a program that has ended', podWith(ended(0))],
  ['EXITED', 'a Pod whose deletion was forced', podWith(running, { ...deleted, deletionGracePeriodSeconds: 0 })],
  ['STOPPING', 'an end whose files are not kept yet', podWith(ended(0), { finalizers: [KEEP_FINALIZER] })],
])('%s is the state of %s', (state, _case, pod) => {
  expect(instanceOf(pod)).toMatchObject({ podName: 'ab12cd-lobby', runId: 'run-1', port: 25_565, state })
  expect(isOver(pod)).toBe(state === 'EXITED')
})

test('the node of a run is known once it is chosen', () => {
  const pod = podWith(running)
  expect(instanceOf(pod).node).toBeUndefined()
  expect(instanceOf({ ...pod, spec: { ...pod.spec!, nodeName: 'node-a' } }).node).toBe('node-a')
})

test('a run waits for its copy, then for its program, then for nothing that the cluster knows', () => {
  const waitsFor = (pod: V1Pod) => instanceOf(pod).waitsFor
  const copying = { phase: 'Pending', initContainerStatuses: [containerStatus('copy', running)] }
  expect(waitsFor(podWith(undefined, {}, copying))).toBe('the copy of its files')
  expect(waitsFor(podWith(undefined, {}, { phase: 'Pending' }))).toBe('its program to start')
  expect(waitsFor(podWith({ waiting: { reason: 'ImagePullBackOff' } }))).toBe('its program to start')
  expect(waitsFor(podWith(running))).toBeUndefined()
  expect(waitsFor(podWith(ended(0)))).toBeUndefined()
})

const HOUR_MS = 3_600_000

test.each([
  ['is right', 0],
  ['is an hour ahead', HOUR_MS],
  ['is an hour behind', -HOUR_MS],
])('the start of a run is reported in the time of the cluster if the clock of its node %s', (_case, skewMs) => {
  const createdAt = Math.floor(Date.now() / 1000) * 1000 - 60_000
  const byNode = (ms: number) => new Date(createdAt + ms + skewMs)
  const pod = podWith(
    { running: { startedAt: byNode(30_000) } },
    { creationTimestamp: new Date(createdAt) },
    {
      startTime: byNode(10_000),
      conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: new Date(createdAt + 10_000) }],
    },
  )
  expect(instanceOf(pod).startedAt).toBe(createdAt + 30_000)
})

test('a Pod of a node that does not answer is lost, and can be replaced if its files are its own', () => {
  const status = { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' }] }
  const lost = podWith(running, { deletionTimestamp: new Date(9000) }, status)
  expect(lostSince(lost)).toBe(9000)
  expect(lostSince(podWith(running, deleted))).toBeUndefined()
  expect(isReplaceable(lost)).toBe(false)
  expect(isReplaceable(podOf({ ...LOBBY, copy: true }, POD_SETTINGS))).toBe(true)
})

test('security 239: the volumes of a sidecar that the cluster adds do not make a Pod replaceable', () => {
  expect(isReplaceable(withSidecar(podOf(LOBBY, POD_SETTINGS)))).toBe(false)
  expect(isReplaceable(withSidecar(podOf({ ...LOBBY, copy: true, keep: ['list.txt'] }, POD_SETTINGS)))).toBe(false)
  expect(isReplaceable(withSidecar(podOf({ ...LOBBY, copy: true }, POD_SETTINGS)))).toBe(true)
})

test('the reasons why a Pod does not start yet are reported, each kind once', () => {
  const waiting = (reason: string, message: string) =>
    podWith({ waiting: { reason, message } }, {}, { phase: 'Pending' })
  expect(messagesOf(waiting('ErrImagePull', 'not found'))).toEqual([
    { key: 'image', text: 'Image java:21 cannot be pulled: not found' },
  ])
  expect(messagesOf(waiting('ImagePullBackOff', 'Back-off'))[0]?.key).toBe('image')
  expect(messagesOf(waiting('CreateContainerConfigError', 'no such user'))).toEqual([
    { key: 'container', text: 'The container cannot be created: no such user' },
  ])
  expect(messagesOf(podWith(running))).toEqual([])
  expect(hasEnded(podWith(running))).toBe(false)
})

test('a Pod that waits for a node reports each reason once, however many nodes give it', () => {
  const unschedulable = (message: string) => {
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }]
    return messagesOf(podWith(undefined, {}, { phase: 'Pending', conditions }))
  }
  const full = '0/1 nodes are available: 1 Insufficient cpu.'
  const [first] = unschedulable(full)
  expect(first?.text).toBe(`Unschedulable: ${full}`)
  expect(unschedulable('0/7 nodes are available: 7 Insufficient cpu.')[0]?.key).toBe(first?.key)
  const tainted = unschedulable('0/7 nodes are available: 2 node(s) had untolerated taint(s), 5 Insufficient cpu.')
  expect(tainted[0]?.key).not.toBe(first?.key)
  expect(
    unschedulable('0/9 nodes are available: 4 Insufficient cpu, 5 node(s) had untolerated taint(s).')[0]?.key,
  ).toBe(tainted[0]?.key)
})

test('a Pod copies while its init container runs, not while that waits for its image or a volume', () => {
  const copying = (state: V1ContainerState, change: Partial<V1Pod['metadata']> = {}) =>
    isCopying(
      podWith(undefined, change, {
        phase: 'Pending',
        initContainerStatuses: [containerStatus('copy', state)],
      }),
    )
  expect(copying({ waiting: { reason: 'PodInitializing' } })).toBe(false)
  expect(copying(running)).toBe(true)
  expect(copying(ended(0))).toBe(false)
  expect(copying({ waiting: { reason: 'ImagePullBackOff' } })).toBe(false)
  expect(copying(running, deleted)).toBe(false)
  expect(isCopying(podWith(running))).toBe(false)
})

test.each([
  'null',
  '7',
  '"text"',
  '[]',
  '{}',
  '{"stop":null}',
  '{"stop":{"timeoutSeconds":1e308}}',
  '{"stop":{"timeoutSeconds":5},"ready":{}}',
  '{"stop":{"timeoutSeconds":5},"port":"25565"}',
  '{"stop":{"timeoutSeconds":5},"keep":{"paths":null}}',
  '{',
])('a Pod whose run annotation was replaced by %s is handled like any other', (text) => {
  const pod = podWith(running, { annotations: { [RUN_ANNOTATION]: text } })
  expect(instanceOf(pod)).toMatchObject({ podName: 'ab12cd-lobby', state: 'RUNNING', port: undefined })
  expect(runOptionsOf(pod)).toEqual({ stop: { timeoutSeconds: 30 } })
})

test.each(['', 'soon', 'Infinity', 'null'])('a stop annotation with the invalid time "%s" is ignored', (text) => {
  const pod = podWith(running, { annotations: { [STOP_ANNOTATION]: text } })
  expect(stopRequestedAt(pod)).toBeUndefined()
})
