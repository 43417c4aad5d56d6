import type { V1Pod } from '@kubernetes/client-node'
import { lastExitOf } from '../../../../src/platform/deployments/reconcile/crashCapsule'
import { podOf } from '../../../../src/platform/runtime/kubernetes/podSpec'
import { closingLinesOf, exitOf, instanceOf } from '../../../../src/platform/runtime/kubernetes/podInstance'
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
    { interruption: 'Ended by the cluster: Evicted: The node was low on resource: memory.' },
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
    { interruption: 'Ended by the cluster: Eviction API: evicting' },
  ],
  [
    'a deletion in the cluster',
    podWith(running, deleted),
    { interruption: 'Ended by the cluster: its Pod was deleted in the cluster' },
  ],
  [
    'a stop before the start',
    podWith(undefined, { ...stopped, ...deleted }),
    { failure: 'Stopped before it was started.', requested: true },
  ],
])('the end of a run is recognized: %s', (_case, pod, exit) => {
  expect(exitOf(pod, 7000)).toMatchObject({ at: 7000, ...exit })
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
    const copy = podOf({ ...LOBBY, copy: true }, POD_SETTINGS).spec?.initContainers?.[0]
    expect(copy?.terminationMessagePolicy).toBe('FallbackToLogsOnError')
    const message = `cp: an earlier line\n${reason}\n${PRESERVE}\n`
    const initContainerStatuses = [containerStatus('copy', ended(1, 'Error', message))]
    const exit = exitOf(podWith(undefined, {}, { phase: 'Failed', initContainerStatuses }), 0)
    expect(exit.failure).toBe(`Could not be started: its files could not be copied (${reason}).`)
    expect(exit.isTemporary).toBe(isTemporary)
  },
)

test('security 242: a start that fails in a container which the cluster has added counts as temporary', () => {
  const statuses = [containerStatus('copy', ended(0)), containerStatus('mesh-init', ended(126))]
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
  expect(exitOf(missing, 0).failure).toBe(
    'Java is not installed in the image "java:21". Choose one with Java in run.image, or set run.command.',
  )
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

test('an end caused by the cluster is reported as such, and not as a crash', () => {
  expect(lastExitOf(exitOf(podWith(running, deleted), 0)).reason).toBe(
    'Ended by the cluster: its Pod was deleted in the cluster',
  )
})
