import { failureHint } from '../../api/failure'

/** Why a form was refused, in the product's words or the server's. */
export function Failure({ error, text }: { error: unknown; text: string }) {
  if (!error) return null
  const hint = failureHint(error)
  return (
    <div role="alert" className="alert alert-danger">
      {text}
      {hint && <span className="failure-hint">{hint}</span>}
    </div>
  )
}
