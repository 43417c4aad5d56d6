import { useId } from 'react'
import { useSelector } from 'react-redux'
import { selectConnected, selectFilesSynced, selectSyncProblem } from '../../sockets/realtimeSlice'
import { ActionIcon } from '../../ui/ActionIcon'
import { Icon } from '../../ui/Icon'
import './syncIndicator.scss'

const SYNCED = 'Every change has reached the copies that instances work on.'
const SYNCING = 'Changes are on their way to the copies that instances work on.'
const LOST = 'There is no connection to the server: this may be out of date.'

/** A button for the keyboard's sake: what it explains shows while it is pointed at or has the focus. */
export function SyncIndicator() {
  const synced = useSelector(selectFilesSynced)
  const problem = useSelector(selectSyncProblem)
  const connected = useSelector(selectConnected)
  const id = useId()
  return (
    <span className={connected ? 'sync' : 'sync lost'}>
      <button type="button" className={synced ? 'sync-button synced' : 'sync-button'} aria-describedby={id}>
        {synced ? <Icon name="check" /> : <ActionIcon name="restart" />}
        <span aria-live="polite">{synced ? 'Synced' : 'Syncing...'}</span>
        {problem && <span className="sync-mark" aria-hidden="true" />}
      </button>
      <span id={id} role="tooltip" className="sync-tip panel">
        {synced ? SYNCED : SYNCING}
        {problem && <strong>The last attempt failed and is repeated: {problem}</strong>}
        {!connected && <strong>{LOST}</strong>}
      </span>
    </span>
  )
}
