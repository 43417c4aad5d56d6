import Button from 'react-bootstrap/Button'
import { CallFailure } from '../../api/CallFailure'
import styles from './account.module.scss'

export function SessionsFailure({ error, busy, onRetry }: { error: unknown; busy: boolean; onRetry: () => unknown }) {
  return (
    <div className={styles.sessionsFailure}>
      <CallFailure error={error} text="Failed to load your sessions" />
      <Button variant="outline-danger" aria-disabled={busy} onClick={() => !busy && onRetry()}>
        Retry
      </Button>
    </div>
  )
}
