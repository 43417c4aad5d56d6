import CloseButton from 'react-bootstrap/CloseButton'
import { useDispatch, useSelector } from 'react-redux'
import type { Notification } from '../../facts'
import type { IconName } from '../../ui/Icon'
import { Icon } from '../../ui/Icon'
import { dismissed, selectNotifications } from './notificationsSlice'
import { usePlace } from './usePlace'
import styles from './toasts.module.scss'

const icons: Record<Notification['type'], IconName> = {
  success: 'check',
  danger: 'alert',
  warning: 'alert',
  info: 'compass',
}

/** The problem log has the whole text of a failure. */
const MAX_LENGTH = 500

const shortened = (text: string) => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text)

/** Always rendered: screen readers announce changes only in a live region that already exists. */
export function Toasts() {
  const notifications = useSelector(selectNotifications)
  const dispatch = useDispatch()
  const region = usePlace(notifications.length)
  return (
    <div ref={region} className={styles.region} role="region" aria-label="Notifications" aria-live="polite">
      {notifications.map(({ id, type, message }) => (
        <div key={id} className={`toast show ${styles.notification} ${styles[type]}`}>
          <Icon name={icons[type]} />
          <span className={styles.message}>{shortened(message)}</span>
          <CloseButton aria-label="Dismiss" onClick={() => dispatch(dismissed(id))} />
        </div>
      ))}
    </div>
  )
}
