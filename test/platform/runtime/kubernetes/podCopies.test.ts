import { EventEmitter } from 'node:events'
import type { V1Pod } from '@kubernetes/client-node'
import { watchPodCopies } from '../../../../src/platform/runtime/kubernetes/podCopies'
import type { SyncState } from '../../../../src/platform/share/replicas/replicas'

const changes = new EventEmitter()
const pods = new Map<string, V1Pod>()
const change = (podName: string, copyState: 'running' | 'terminated' | 'gone') => {
  if (copyState === 'gone') pods.delete(podName)
  else
    pods.set(podName, {
      status: {
        phase: 'Pending',
        initContainerStatuses: [
          {
            name: 'copy',
            image: 'java:21',
            imageID: '',
            ready: false,
            restartCount: 0,
            state: copyState === 'running' ? { running: {} } : { terminated: { exitCode: 0 } },
          },
        ],
      },
    })
  changes.emit('changed', podName)
}

test('a sync lasts from the first copy that begins until the last one is complete, or its Pod is gone', () => {
  const copies = watchPodCopies({
    get: (podName) => pods.get(podName),
    watch: (listener) => {
      changes.on('changed', listener)
      return () => changes.off('changed', listener)
    },
  })
  const events: SyncState[] = []
  copies.onSync((state) => events.push(state))
  expect(copies.state).toEqual({ event: 'sync_completed' })

  change('a', 'running')
  change('b', 'running')
  change('a', 'terminated')
  expect(events).toEqual([{ event: 'sync_started' }])
  expect(copies.state).toEqual({ event: 'sync_started' })
  change('b', 'gone')
  expect(events).toEqual([{ event: 'sync_started' }, { event: 'sync_completed' }])

  copies.close()
  change('c', 'running')
  expect(events).toHaveLength(2)
})
