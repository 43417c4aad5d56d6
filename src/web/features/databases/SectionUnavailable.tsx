import Button from 'react-bootstrap/Button'
import { failureText } from '../../failure'
import styles from './databases.module.scss'

/** `id` is the id of the element that gives the reason. */
type SectionUnavailableProps = { id: string; section: string; error: unknown; busy: boolean; onRetry: () => unknown }

/** No such database server is configured, which is not an error. The server's own text says what to set or start. */
export function SectionUnavailable({ id, section, error, busy, onRetry }: SectionUnavailableProps) {
  return (
    <div className={styles.unavailable} role="status">
      <div>
        <h3>{section} are not available</h3>
        <p id={id}>{failureText(error, 'They are not configured on this server.')}</p>
      </div>
      <Button variant="outline-secondary" aria-disabled={busy} aria-busy={busy} onClick={() => !busy && onRetry()}>
        Check again
      </Button>
    </div>
  )
}
