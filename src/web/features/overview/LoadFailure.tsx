import Button from 'react-bootstrap/Button'
import { failureHint, failureText } from '../../failure'
import { Icon } from '../../ui/Icon'
import styles from './overview.module.scss'

export function LoadFailure({ error, busy, onRetry }: { error: unknown; busy: boolean; onRetry: () => unknown }) {
  return (
    <section className={`${styles.banner} panel ${styles.failed}`} role="alert">
      <Icon name="alert" size={24} />
      <div className={styles.bannerText}>
        <h2>Failed to Load Data</h2>
        <p>{failureText(error, 'Failed to fetch network data')}</p>
        {failureHint(error) && <p>{failureHint(error)}</p>}
      </div>
      <Button variant="outline-danger" aria-disabled={busy} onClick={() => !busy && onRetry()}>
        Retry
      </Button>
    </section>
  )
}
