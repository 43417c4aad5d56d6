import Button from 'react-bootstrap/Button'
import { failureDetail } from '../../failure'
import { Icon } from '../../ui/Icon'
import styles from './databases.module.scss'

type SectionFailureProps = { error: unknown; busy: boolean; hasData: boolean; onRetry: () => unknown }

/** The server's own text gives the reason and what to set or start. */
export function SectionFailure({ error, busy, hasData, onRetry }: SectionFailureProps) {
  const detail = failureDetail(error)
  return (
    <div className={`${styles.failure} panel`} role="alert">
      <Icon name="alert" size={24} />
      <div>
        <h3>Failed to load databases</h3>
        {detail && <p>{detail}</p>}
        {hasData && <p>Showing what was known before.</p>}
      </div>
      <Button variant="outline-secondary" aria-disabled={busy} aria-busy={busy} onClick={() => !busy && onRetry()}>
        Retry
      </Button>
    </div>
  )
}
