import Button from 'react-bootstrap/Button'
import { Icon } from './Icon'

type LoadFailureProps = {
  title: string
  /** The level of the title. */
  as?: 'h2' | 'h3'
  /** The reason, in the server's words or ours. */
  detail: string
  /** Further information for the user. */
  hint?: string | undefined
  busy: boolean
  onRetry: () => unknown
}

/** Content that failed to load, in its place or above what was loaded before. */
export function LoadFailure({ title, as: Title = 'h2', detail, hint, busy, onRetry }: LoadFailureProps) {
  return (
    <section className="load-failure panel" role="alert">
      <Icon name="alert" size={24} />
      <div>
        <Title>{title}</Title>
        {detail && <p>{detail}</p>}
        {hint && <p>{hint}</p>}
      </div>
      <Button variant="outline-danger" aria-disabled={busy} onClick={() => !busy && onRetry()}>
        Retry
      </Button>
    </section>
  )
}
