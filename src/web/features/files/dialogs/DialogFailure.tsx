import { failureHint, failureText } from '../../../api/transport/failure'

/** Shows the product's sentence, and the server's text below it. */
export function DialogFailure({ error, text }: { error: unknown; text: string }) {
  if (!error) return null
  const detail = failureText(error, failureHint(error) ?? '')
  return (
    <div role="alert" className="alert alert-danger">
      {text}
      {detail && <span className="failure-hint">{detail}</span>}
    </div>
  )
}
