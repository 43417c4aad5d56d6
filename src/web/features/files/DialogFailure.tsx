import { failureHint, failureText } from '../../api/failure'

/** The product's sentence, and below it the server's. */
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
