import { usePaneSelector } from './console/pane'
import { selectConnection, selectEnd, selectIsLost } from '../../sockets/consoleSlice'
import styles from './console/console.module.scss'

export function ConnectionBadge() {
  const connection = usePaneSelector(selectConnection)
  const isLost = usePaneSelector(selectIsLost)
  const end = usePaneSelector(selectEnd)
  const [text, tone] =
    connection === 'open'
      ? (['Connected', 'open'] as const)
      : end
        ? (['Disconnected', 'closed'] as const)
        : isLost
          ? (['Disconnected – reconnecting', 'lost'] as const)
          : (['Connecting…', 'lost'] as const)
  return (
    <span className={`${styles.connection} ${styles[tone]}`} role="status" aria-label="Console connection">
      {text}
    </span>
  )
}
