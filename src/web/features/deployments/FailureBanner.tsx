import { failureHint, failureText } from '../../api/failure'
import { Banner } from './Banner'

/** The product's sentence, and below it what the server says. */
export function FailureBanner({ title, error, onDismiss }: { title: string; error: unknown; onDismiss: () => void }) {
  const detail = failureText(error, failureHint(error) ?? '')
  return (
    <Banner tone="danger" onDismiss={onDismiss}>
      <strong>{title}</strong>
      {detail && <p>{detail}</p>}
    </Banner>
  )
}
