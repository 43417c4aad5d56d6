import Button from 'react-bootstrap/Button'
import { CallFailure } from '../../api/CallFailure'

export function SessionsFailure({ error, busy, onRetry }: { error: unknown; busy: boolean; onRetry: () => unknown }) {
  return (
    <div className="sessions-failure">
      <CallFailure error={error} text="Failed to load your sessions" />
      <Button variant="outline-danger" aria-disabled={busy} onClick={() => !busy && onRetry()}>
        Retry
      </Button>
    </div>
  )
}
