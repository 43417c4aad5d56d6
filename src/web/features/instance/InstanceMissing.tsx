import Button from 'react-bootstrap/Button'
import { Link } from 'react-router-dom'
import { failureHint, failureText } from '../../failure'
import { Notice } from '../../ui/Notice'

type InstanceMissingProps = { failure: unknown; busy: boolean; onRetry: () => unknown }

/** Shown instead of an instance that does not exist or could not be loaded. */
export function InstanceMissing({ failure, busy, onRetry }: InstanceMissingProps) {
  const homeLink = (
    <Link to="/" className="btn btn-primary">
      Return Home
    </Link>
  )
  if (!failure) {
    return (
      <Notice title="Instance Not Found" icon="compass" actions={homeLink}>
        <title>Instance Not Found · Quarterdeck</title>
        <p>It is not among the instances of its deployment. It may have been removed, or its deployment disabled.</p>
      </Notice>
    )
  }
  const retryButton = (
    <Button variant="outline-secondary" aria-disabled={busy} onClick={() => !busy && onRetry()}>
      Retry
    </Button>
  )
  return (
    <Notice
      title="Failed to Load Data"
      icon="alert"
      alert
      actions={
        <>
          {retryButton}
          {homeLink}
        </>
      }
    >
      <title>Instance · Quarterdeck</title>
      <p>{failureText(failure, 'Failed to fetch network data')}</p>
      {failureHint(failure) && <p>{failureHint(failure)}</p>}
    </Notice>
  )
}
