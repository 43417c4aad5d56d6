import { execFileSync } from 'node:child_process'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { V1ContainerState, V1Pod } from '@kubernetes/client-node'
import { lastExitOf } from '../../../../src/platform/deployments/reconcile/crashCapsule'
import {
  podOf,
  READY_CONDITION,
  RUN_ANNOTATION,
  STOP_ANNOTATION,
  KEEP_FINALIZER,
} from '../../../../src/platform/runtime/kubernetes/podSpec'
import {
  closingLinesOf,
  exitOf,
  hasEnded,
  instanceOf,
  isCopying,
  isOver,
  isReplaceable,
  lostSince,
  messagesOf,
  runOptionsOf,
  stopRequestedAt,
} from '../../../../src/platform/runtime/kubernetes/podState'
import { parseQuantity } from '../../../../src/platform/runtime/kubernetes/podUsage'
import { timeOfCopyMarker } from '../../../../src/platform/runtime/copyMarker'
import type { InstanceSpec } from '../../../../src/platform/runtime/runtime'
import { COPY_MARKER } from '../../../../src/platform/share/internalNames'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

const SPEC: InstanceSpec = {
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
const settings = {
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

/** A Pod of the specification, with a status as a kubelet reports it. */
function podWith(
  state: V1ContainerState | undefined,
  change: Partial<V1Pod['metadata']> = {},
  status: V1Pod['status'] = {},
): V1Pod {
  const pod = podOf(SPEC, settings)
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
      ...(state && {
        containerStatuses: [{ name: 'instance', image: 'java:21', imageID: '', ready: false, restartCount: 0, state }],
      }),
    },
  }
}
const running = { running: { startedAt: new Date(5000) } }
const ended = (exitCode: number, reason = 'Error', message?: string) => ({
  terminated: { exitCode, reason, containerID: 'c', ...(message !== undefined && { message }) },
})
const stopped = { annotations: { [STOP_ANNOTATION]: '1000' } }
const deleted = { deletionTimestamp: new Date() }

test('decisions §15: a Pod is restricted, has no service account token, and mounts only what its instance may see of the claim', () => {
  const { metadata, spec } = podOf(SPEC, settings)
  expect(metadata?.annotations).toMatchObject({ 'quarterdeck.io/state': 'state-1' })
  expect(metadata?.labels).toEqual({
    'app.kubernetes.io/managed-by': 'quarterdeck',
    'app.kubernetes.io/name': 'lobby',
    'app.kubernetes.io/instance': 'ab12cd-lobby',
  })
  expect(spec).toMatchObject({
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    volumes: [{ name: 'share', persistentVolumeClaim: { claimName: 'share' } }],
  })
  const [container] = spec!.containers
  expect(container).toMatchObject({
    name: 'instance',
    image: 'java:21',
    workingDir: '/data',
    stdin: true,
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    resources: { limits: { cpu: '1500m', memory: String(2 ** 30) } },
    volumeMounts: [
      { name: 'share', mountPath: '/data', subPath: 'network/lobby' },
      { name: 'share', mountPath: '/nfsshare/maps', subPath: 'maps', readOnly: true },
      {
        name: 'share',
        mountPath: '/run/quarterdeck/peers',
        subPath: '.quarterdeck-peers/ab12cd-lobby',
        readOnly: true,
      },
    ],
  })
})

test('the cluster expands no variables in commands and environment values', () => {
  const [container] = podOf(SPEC, settings).spec!.containers
  expect(container?.command).toEqual(['java', '-Dcost=$$5', '$$(HOME)'])
  expect(container?.env).toContainEqual({ name: 'PRICE', value: '$$$$ and $$(PORT)' })
})

test('a copy is made on the node, or in the shared area where files of it are kept', () => {
  const mountOf = (spec: InstanceSpec) => podOf(spec, settings).spec?.containers[0]?.volumeMounts?.[0]
  const copied = podOf({ ...SPEC, copy: true }, settings)
  expect(copied.spec?.initContainers?.[0]?.volumeMounts).toEqual([
    { name: 'share', mountPath: '/source', subPath: 'network/lobby', readOnly: true },
    { name: 'data', mountPath: '/data' },
  ])
  expect(copied.spec?.volumes).toContainEqual({ name: 'data', emptyDir: {} })
  expect(copied.metadata?.finalizers).toBeUndefined()
  const kept = { ...SPEC, copy: true, keep: ['list.txt'] }
  expect(mountOf(kept)).toEqual({ name: 'share', mountPath: '/data', subPath: '.quarterdeck-copies/ab12cd-lobby' })
  expect(podOf(kept, settings).metadata?.finalizers).toEqual([KEEP_FINALIZER])
})

test('security 172: a copy whose files are kept is marked when it is complete', async () => {
  const [source, data] = [join(directory(), 'source'), join(directory(), 'data')]
  await mkdir(join(source, 'plugins', '.quarterdeck-unfinished.part'), { recursive: true })
  await mkdir(data)
  await writeFile(join(source, 'plugins', 'list.txt'), 'text')
  const copy = (spec: InstanceSpec) => {
    const [program = '', ...args] = podOf(spec, settings).spec!.initContainers![0]!.command!
    execFileSync(
      program,
      args.map((arg) => arg.replaceAll('/source', source).replaceAll('/data', data)),
    )
  }
  copy({ ...SPEC, copy: true })
  expect(await readdir(data)).toEqual(['plugins'])
  copy({ ...SPEC, copy: true, keep: ['plugins'] })
  expect(await readdir(join(data, 'plugins'))).toEqual(['list.txt'])
  const { ctimeMs } = await stat(join(data, 'plugins', 'list.txt'))
  expect(await timeOfCopyMarker(join(data, COPY_MARKER))).toBeGreaterThanOrEqual(ctimeMs)
})

test('the node of a run is known once it is chosen', () => {
  const pod = podWith(running)
  expect(instanceOf(pod).node).toBeUndefined()
  expect(instanceOf({ ...pod, spec: { ...pod.spec!, nodeName: 'node-a' } }).node).toBe('node-a')
})

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

test.each<[string, V1Pod, object]>([
  ['an exit code', podWith(ended(3)), { code: 3, signal: null, requested: false, orderly: false }],
  ['exit code 0', podWith(ended(0)), { code: 0, signal: null, requested: false, orderly: true }],
  ['a signal', podWith(ended(143), stopped), { code: null, signal: 'SIGTERM', requested: true, orderly: true }],
  ['SIGKILL', podWith(ended(137), stopped), { signal: 'SIGKILL', requested: true, orderly: false }],
  [
    'a program that is missing',
    podWith(ended(128, 'StartError', 'exec: "java": executable file not found in $PATH')),
    { failure: expect.stringContaining('Java is not installed in the image "java:21"') },
  ],
  [
    'an eviction',
    podWith(undefined, {}, { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' }),
    { interruption: 'Evicted: The node was low on resource: memory.' },
  ],
  [
    'a drained node',
    podWith(
      ended(143),
      {},
      {
        conditions: [
          {
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'EvictionByEvictionAPI',
            message: 'Eviction API: evicting',
          },
        ],
      },
    ),
    { interruption: 'Eviction API: evicting' },
  ],
  ['a deletion in the cluster', podWith(running, deleted), { interruption: 'its Pod was deleted in the cluster' }],
  [
    'a stop before the start',
    podWith(undefined, { ...stopped, ...deleted }),
    { failure: 'Stopped before it was started.', requested: true },
  ],
])('the end of a run is recognized: %s', (_case, pod, exit) => {
  expect(exitOf(pod, 7000)).toMatchObject({ at: 7000, ...exit })
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
  expect(isReplaceable(podOf({ ...SPEC, copy: true }, settings))).toBe(true)
})

/** What an admission webhook, such as that of a service mesh, makes of a Pod: another container, with a volume. */
function withSidecar(pod: V1Pod): V1Pod {
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

test('security 239: the volumes of a sidecar that the cluster adds do not make a Pod replaceable', () => {
  expect(isReplaceable(withSidecar(podOf(SPEC, settings)))).toBe(false)
  expect(isReplaceable(withSidecar(podOf({ ...SPEC, copy: true, keep: ['list.txt'] }, settings)))).toBe(false)
  expect(isReplaceable(withSidecar(podOf({ ...SPEC, copy: true }, settings)))).toBe(true)
})

test('security 242: a start that fails in a container which the cluster has added counts as temporary', () => {
  const initStatus = (name: string, exitCode: number) => ({
    name,
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    state: { terminated: { exitCode } },
  })
  const statuses = [initStatus('copy', 0), initStatus('mesh-init', 126)]
  expect(exitOf(podWith(undefined, {}, { phase: 'Failed', initContainerStatuses: statuses }), 0)).toMatchObject({
    failure: 'Could not be started: the container "mesh-init", which the cluster has added, ended with exit code 126.',
    isTemporary: true,
  })
})

test('the end of a run beside a sidecar is described by the container of the instance', () => {
  expect(closingLinesOf(withSidecar(podWith(ended(137, 'OOMKilled'))))[0]).toBe(
    `Killed for memory: it may use ${2 ** 30} bytes.`,
  )
  const missing = withSidecar(podWith(ended(128, 'StartError', 'exec: "java": executable file not found in $PATH')))
  expect(exitOf(missing, 0).failure).toContain('Java is not installed in the image "java:21"')
})

test('a run that ran out of memory says so after its output, with its limit', () => {
  expect(closingLinesOf(podWith(ended(137, 'OOMKilled')))).toEqual([
    `Killed for memory: it may use ${2 ** 30} bytes.`,
    'Ended by itself by signal SIGKILL.',
  ])
  expect(lastExitOf(exitOf(podWith(ended(137, 'OOMKilled')), 0)).reason).toBe(
    `Killed for memory: it may use ${2 ** 30} bytes`,
  )
})

describe('with a container and a volume that the cluster has injected, such as the proxy of a service mesh,', () => {
  const sidecar = { name: 'proxy', image: 'mesh:1', command: ['/proxy'], resources: { limits: { memory: '64Mi' } } }
  const withSidecar = (pod: V1Pod): V1Pod => ({
    ...pod,
    spec: {
      ...pod.spec,
      containers: [sidecar, ...pod.spec!.containers],
      volumes: [{ name: 'proxy-data', emptyDir: {} }, ...pod.spec!.volumes!],
    },
  })

  test('a run that ran out of memory has the limit of the instance', () => {
    expect(closingLinesOf(withSidecar(podWith(ended(137, 'OOMKilled'))))[0]).toBe(
      `Killed for memory: it may use ${2 ** 30} bytes.`,
    )
  })

  test('a program or an image that cannot be started is that of the instance', () => {
    const failed = (message: string) =>
      podWith({ terminated: { exitCode: 128, reason: 'StartError', message, containerID: 'x' } })
    expect(exitOf(withSidecar(failed('exec: "java": executable file not found in $PATH')), 0).failure).toBe(
      'Java is not installed in the image "java:21". Choose one with Java in run.image, or set run.command.',
    )
  })

  test('only an instance with its own copy is replaceable', () => {
    expect(isReplaceable(withSidecar(podWith(running)))).toBe(false)
    expect(isReplaceable(withSidecar(podOf({ ...SPEC, copy: true }, settings)))).toBe(true)
  })
})

test('an end caused by the cluster is reported as such, and not as a crash', () => {
  expect(lastExitOf(exitOf(podWith(running, deleted), 0)).reason).toBe(
    'Ended by the cluster: its Pod was deleted in the cluster',
  )
})

test('security 229: a Pod that its node refuses for want of CPU, memory or places is no crash, and is tried again', () => {
  const message = 'Pod was rejected: Node didn\u2019t have enough resource: cpu, requested: 1000, used: 1500'
  const rejected = podWith(undefined, {}, { phase: 'Failed', reason: 'OutOfcpu', message })
  expect(instanceOf(rejected)).toMatchObject({
    state: 'EXITED',
    exit: { failure: `Could not be started: ${message}.`, isTemporary: true },
  })
  const stopping = podWith(undefined, stopped, { phase: 'Failed', reason: 'OutOfcpu', message })
  expect(exitOf(stopping, 0)).toMatchObject({ requested: true, failure: 'Stopped before it was started.' })
  expect(exitOf(podWith(ended(1)), 0).isTemporary).toBeUndefined()
})

/** The last line of BusyBox in a directory of another owner. */
const PRESERVE = "cp: can't preserve ownership of '/data/.': Operation not permitted"

test.each([
  ["cp: can't create directory '/data/world': No space left on device", true],
  ["cp: error writing '/data/world': Disk quota exceeded", true],
  ["cp: can't open '/source/secret': Permission denied", true],
  ['sh: cp: not found', undefined],
])(
  'security 230: a copy that fails says why, and is tried again if the reason lies with the files or the disk: %s',
  (reason, isTemporary) => {
    const copy = podOf({ ...SPEC, copy: true }, settings).spec?.initContainers?.[0]
    expect(copy?.terminationMessagePolicy).toBe('FallbackToLogsOnError')
    const initContainerStatuses = [
      {
        name: 'copy',
        image: 'java:21',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode: 1, message: `cp: an earlier line\n${reason}\n${PRESERVE}\n` } },
      },
    ]
    const exit = exitOf(podWith(undefined, {}, { phase: 'Failed', initContainerStatuses }), 0)
    expect(exit.failure).toBe(`Could not be started: its files could not be copied (${reason}).`)
    expect(exit.isTemporary).toBe(isTemporary)
  },
)

test('the copy of an instance has its limits, which a quota may demand of each container', () => {
  const { initContainers, containers } = podOf({ ...SPEC, copy: true }, settings).spec!
  expect(initContainers?.[0]?.resources).toEqual(containers[0]?.resources)
  expect(containers[0]?.resources).toEqual({ limits: { cpu: '1500m', memory: String(2 ** 30) } })
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

test.each([
  ['12345678n', 0.012345678],
  ['250m', 0.25],
  ['2', 2],
  ['512Ki', 2 ** 19],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['7M', 7e6],
  ['3k', 3000],
  ['5u', 5e-6],
  ['2P', 2e15],
  ['1E', 1e18],
  ['3Pi', 3 * 2 ** 50],
  ['2Ei', 2 ** 61],
  ['1e9', 1e9],
  ['12E3', 12_000],
  ['5e-1', 0.5],
  ['1.', 1],
  ['.5', 0.5],
  ['+2', 2],
  ['-5', -5],
])('the quantity %s is parsed', (text, value) => {
  expect(parseQuantity(text) / value).toBeCloseTo(1)
})

test.each(['', ' 1', '.', '-', '1.2.3', '1Ri', '1K', '1 Gi', '1e', '1e5Ki', '1e999', '0x10', 'NaN', '1,5'])(
  'the text "%s" is no quantity',
  (text) => {
    expect(parseQuantity(text)).toBeNaN()
  },
)

test('a Pod copies while its init container runs, not while that waits for its image or a volume', () => {
  const copying = (state: V1ContainerState, change: Partial<V1Pod['metadata']> = {}) =>
    isCopying(
      podWith(undefined, change, {
        phase: 'Pending',
        initContainerStatuses: [{ name: 'copy', image: 'java:21', imageID: '', ready: false, restartCount: 0, state }],
      }),
    )
  expect(copying({ waiting: { reason: 'PodInitializing' } })).toBe(false)
  expect(copying(running)).toBe(true)
  expect(copying(ended(0))).toBe(false)
  expect(copying({ waiting: { reason: 'ImagePullBackOff' } })).toBe(false)
  expect(copying(running, deleted)).toBe(false)
  expect(isCopying(podWith(running))).toBe(false)
})
