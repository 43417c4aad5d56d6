import Button from 'react-bootstrap/Button'
import { failureHint, failureText } from '../../api/failure'
import { Icon } from '../../ui/Icon'

export function ListFailure({ error, busy, onRetry }: { error: unknown; busy: boolean; onRetry: () => unknown }) {
  const detail = failureText(error, failureHint(error) ?? '')
  return (
    <section className="deployments-failure panel" role="alert">
      <Icon name="alert" size={24} />
      <div>
        <h2>Failed to load deployments</h2>
        {detail && <p>{detail}</p>}
      </div>
      <Button variant="outline-danger" aria-disabled={busy} onClick={() => !busy && onRetry()}>
        Retry
      </Button>
    </section>
  )
}
