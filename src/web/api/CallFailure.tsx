import { failureHint, failureText } from './failure'

/** Why a dialog's call was refused: in the server's words, or else in the product's. */
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
