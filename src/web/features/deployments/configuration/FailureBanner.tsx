import { failureHint, failureText } from '../../../failure'
import { Banner } from './Banner'

/** Shows the product's sentence, and the server's text below it. */
export function FailureBanner({ title, error, onDismiss }: { title: string; error: unknown; onDismiss: () => void }) {
  const detail = failureText(error, failureHint(error) ?? '')
  return (
    <Banner tone="danger" onDismiss={onDismiss}>
      <strong>{title}</strong>
      {detail && <p>{detail}</p>}
    </Banner>
  )
}
