import { EventEmitter } from 'node:events'
import type { SyncSource, SyncState } from '../../share/replicas/replicas'
import type { PodRuns } from './podRuns'
import { isCopying } from './podState'

/** The sync of the copies that Pods make of their deployments' directories: started while one of them is being made. */
export function watchPodCopies(runs: Pick<PodRuns, 'get' | 'watch'>): SyncSource & { close(): void } {
  const events = new EventEmitter()
  const copying = new Set<string>()
  let state: SyncState = { event: 'sync_completed' }

  const close = runs.watch((podName) => {
    const pod = runs.get(podName)
    if (pod && isCopying(pod)) copying.add(podName)
    else copying.delete(podName)
    const event = copying.size > 0 ? 'sync_started' : 'sync_completed'
    if (event === state.event) return
    state = { event }
    events.emit('sync', state)
  })

  return {
    get state() {
      return state
    },
    onSync(listener) {
      events.on('sync', listener)
      return () => events.off('sync', listener)
    },
    close,
  }
}
