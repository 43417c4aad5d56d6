import { failureHint } from '../../api/transport/failure'

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
