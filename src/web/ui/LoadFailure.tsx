import Button from 'react-bootstrap/Button'
import '../styles/loadFailure.scss'
import { Icon } from './Icon'

type LoadFailureProps = { title: string; detail: string; busy: boolean; onRetry: () => unknown }

/** Replaces content that failed to load. */
export function LoadFailure({ title, detail, busy, onRetry }: LoadFailureProps) {
  return (
    <section className="load-failure panel" role="alert">
      <Icon name="alert" size={24} />
      <div>
        <h2>{title}</h2>
        {detail && <p>{detail}</p>}
      </div>
      <Button variant="outline-danger" aria-disabled={busy} onClick={() => !busy && onRetry()}>
        Retry
      </Button>
    </section>
  )
}
