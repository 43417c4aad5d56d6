import Button from 'react-bootstrap/Button'
import styles from './account.module.scss'
import { FailureAlert } from '../../ui/FailureAlert'
import { failureText } from '../../failure'

export function SessionsFailure({ error, busy, onRetry }: { error: unknown; busy: boolean; onRetry: () => unknown }) {
  return (
    <div className={styles.sessionsFailure}>
      <FailureAlert error={error} text={failureText(error, 'Failed to load your sessions')} />
      <Button variant="outline-danger" aria-disabled={busy} onClick={() => !busy && onRetry()}>
        Retry
      </Button>
    </div>
  )
}
