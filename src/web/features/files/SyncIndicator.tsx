import { useId } from 'react'
import { useSelector } from 'react-redux'
import { selectFilesSynced, selectLostAt, selectSyncProblem } from '../../sockets/realtimeSlice'
import { ActionIcon } from '../../ui/ActionIcon'
import { Icon } from '../../ui/Icon'
import styles from './syncIndicator.module.scss'

const SYNCED = 'Every change has reached the copies that instances work on.'
const SYNCING = 'Changes are on their way to the copies that instances work on.'
const LOST = 'There is no connection to the server: whether changes have reached the copies is not known.'

/** A button, so that it can get the focus: the tooltip shows on hover and on focus. */
export function SyncIndicator() {
  const synced = useSelector(selectFilesSynced)
  const problem = useSelector(selectSyncProblem)
  const isLost = useSelector(selectLostAt) !== null
  const id = useId()
  return (
    <span className={isLost ? `${styles.sync} ${styles.lost}` : styles.sync}>
      <button
        type="button"
        className={synced && !isLost ? `${styles.button} ${styles.synced}` : styles.button}
        aria-describedby={id}
      >
        {isLost ? <Icon name="alert" /> : synced ? <Icon name="check" /> : <ActionIcon name="restart" />}
        <span aria-live="polite">{isLost ? 'Not connected' : synced ? 'Synced' : 'Syncing...'}</span>
        {problem && <span className={styles.mark} aria-hidden="true" />}
      </button>
      <span id={id} role="tooltip" className={`${styles.tip} panel`}>
        {!isLost && (synced ? SYNCED : SYNCING)}
        {problem && <strong>The last attempt failed and is repeated: {problem}</strong>}
        {isLost && <strong>{LOST}</strong>}
      </span>
    </span>
  )
}
