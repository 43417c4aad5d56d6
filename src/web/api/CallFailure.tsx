import { failureHint, failureText } from './transport/failure'

/** Shows why a call failed: the server's text, or `text` if there is none. */
export function CallFailure({ error, text }: { error: unknown; text: string }) {
  if (!error) return null
  const hint = failureHint(error)
  return (
    <div role="alert" className="alert alert-danger">
      {failureText(error, text)}
      {hint && <span className="failure-hint">{hint}</span>}
    </div>
  )
}
