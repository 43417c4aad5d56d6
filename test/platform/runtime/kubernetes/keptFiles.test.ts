import { EventEmitter } from 'node:events'
import type { V1Pod } from '@kubernetes/client-node'
import pino from 'pino'
import { createKeptFiles, type KeptFiles } from '../../../../src/platform/runtime/kubernetes/keptFiles'
import type { PodRuns } from '../../../../src/platform/runtime/kubernetes/podRuns'
import type { Pods } from '../../../../src/platform/runtime/kubernetes/pods'
import {
  CONTAINER,
  KEEP_FINALIZER,
  RUN_ANNOTATION,
  STOP_ANNOTATION,
} from '../../../../src/platform/runtime/kubernetes/podSpec'

const WRITTEN = '[System] 12 files of "keep" were written back.'
const CANCELLED = '[System] The files of "keep" were not written back: this was cancelled.'

/** A Pod of a run that was stopped in order. */
const ended: V1Pod = {
  metadata: {
    name: 'lobby-1',
    uid: 'run-1',
    finalizers: [KEEP_FINALIZER],
    annotations: {
      [STOP_ANNOTATION]: '1',
      [RUN_ANNOTATION]: JSON.stringify({
        stop: { timeoutSeconds: 30 },
        keep: { dataDirectory: '/lobby', paths: ['world'] },
      }),
    },
  },
  status: {
    phase: 'Succeeded',
    containerStatuses: [
      {
        name: CONTAINER,
        image: '',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode: 0 } },
      },
    ],
  },
}

/** The Pod in the cluster, and the lines in the console, as all replicas see them. */
let present: V1Pod | undefined
let changes: EventEmitter
let lines: string[]
beforeEach(() => {
  present = ended
  changes = new EventEmitter()
  lines = []
})

/** A replica whose write-back takes until the test ends it, or until it is aborted. */
function openReplica(): KeptFiles & { endWriteBack: () => void; writes: () => number } {
  let writes = 0
  let endWriteBack = () => undefined as void
  const runs: Partial<PodRuns> = {
    get: () => present,
    put(pod) {
      present = pod
      changes.emit('changed', 'lobby-1')
    },
    watch(listener) {
      changes.on('changed', listener)
      return () => changes.off('changed', listener)
    },
  }
  const pods: Partial<Pods> = {
    release: async (pod) => ({ ...pod, metadata: { ...pod.metadata, finalizers: [] } }),
  }
  const kept = createKeptFiles({
    runs: runs as PodRuns,
    pods: pods as Pods,
    copies: {
      pathOf: () => '/copy',
      writeBack: (_podName, _directory, _paths, _skipped, signal) =>
        new Promise((resolve, reject) => {
          writes += 1
          endWriteBack = () => resolve(12)
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        }),
      remove: async () => undefined,
    },
    note: async (_podName, text) => void lines.push(text),
    log: pino({ level: 'silent' }),
  })
  return { ...kept, endWriteBack: () => endWriteBack(), writes: () => writes }
}

test('files that are written back are reported, and the Pod is released', async () => {
  const replica = openReplica()
  const finished = replica.finish(ended)
  replica.endWriteBack()
  expect(await finished).toBeUndefined()
  expect(lines).toEqual([WRITTEN])
  expect(present?.metadata?.finalizers).toEqual([])
  expect(changes.listenerCount('changed')).toBe(0)
})

test.each(['this replica', 'another replica'])('Kill on %s ends a write-back that is under way', async (where) => {
  const manager = openReplica()
  const finished = manager.finish(ended)
  await (where === 'this replica' ? manager : openReplica()).cancel(ended)
  manager.endWriteBack()
  expect(await finished).toBeUndefined()
  expect(lines).toEqual([CANCELLED])
  expect(manager.problemOf('run-1')).toBeUndefined()
  expect(changes.listenerCount('changed')).toBe(0)
})

test('Kill when the files have just been written back does not report that they were not', async () => {
  const manager = openReplica()
  const push = jest.spyOn(lines, 'push').mockImplementationOnce((line) => {
    void manager.cancel(ended)
    return lines.push(line)
  })
  const finished = manager.finish(ended)
  manager.endWriteBack()
  expect(await finished).toBeUndefined()
  push.mockRestore()
  expect(lines).toEqual([WRITTEN])
  expect(present?.metadata?.finalizers).toEqual([])
})

test('a write-back that was cancelled before its turn does not begin', async () => {
  const manager = openReplica()
  await manager.cancel(ended)
  const finished = manager.finish(ended)
  manager.endWriteBack()
  expect(await finished).toBeUndefined()
  expect(manager.writes()).toBe(0)
  expect(lines).toEqual([CANCELLED])
})
