import { EventEmitter } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import type { SyncSource, SyncState } from '../../share/replicas/replicas'
import type { Notifications } from '../../state/notifications'

/** The sync of the shared area as every replica reports it. Only the manager's replica syncs. */
export interface SharedSync extends SyncSource {
  /** Publishes the state of this replica if it is the manager. The manager before it may have published another. */
  announce: () => void
  close(): void
}

/** @param isManager whether this platform is the manager */
export function shareSync(source: SyncSource, notifications: Notifications, isManager: () => boolean): SharedSync {
  const events = new EventEmitter().setMaxListeners(0)
  const stateOf = (data: string | undefined): SyncState =>
    data === undefined ? { event: 'sync_completed' } : (JSON.parse(data) as SyncState)
  let state = stateOf(notifications.latest('sync'))

  const announce = () => {
    const data = JSON.stringify(source.state)
    if (isManager() && data !== notifications.latest('sync')) notifications.publish('sync', data)
  }
  const unwatch = source.onSync(announce)
  const unsubscribe = notifications.on('sync', (data) => {
    const next = stateOf(data)
    if (isDeepStrictEqual(next, state)) return
    state = next
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
    announce,
    close() {
      unwatch()
      unsubscribe()
    },
  }
}
