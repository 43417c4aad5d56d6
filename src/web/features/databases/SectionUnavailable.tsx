import Button from 'react-bootstrap/Button'
import { failureText } from '../../api/failure'
import { Icon } from '../../ui/Icon'

/** `id` is of the reason. */
type SectionUnavailableProps = { id: string; section: string; error: unknown; busy: boolean; onRetry: () => unknown }

/** There is no such server, which is nobody's failure. What to set or start for one is in the server's own words. */
export function SectionUnavailable({ id, section, error, busy, onRetry }: SectionUnavailableProps) {
  return (
    <div className="databases-failure unavailable panel" role="status">
      <Icon name="compass" size={24} />
      <div>
        <h3>{section} are not available</h3>
        <p id={id}>{failureText(error, 'Nobody has set them up on this server yet.')}</p>
      </div>
      <Button variant="outline-secondary" aria-disabled={busy} aria-busy={busy} onClick={() => !busy && onRetry()}>
        Check again
      </Button>
    </div>
  )
}
