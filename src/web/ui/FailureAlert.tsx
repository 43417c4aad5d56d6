import { failureDetail, failureHint } from '../failure'

type FailureAlertProps = {
  /** The error of a call. Without one, nothing is shown. */
  error: unknown
} & (
  | { /** Why the call failed, in the server's words or ours. */ text: string }
  | { /** What failed. The reason is shown below it. */ title: string }
)

/** Shows a failed call where it was made. */
export function FailureAlert({ error, ...texts }: FailureAlertProps) {
  if (!error) return null
  const [text, detail] = 'title' in texts ? [texts.title, failureDetail(error)] : [texts.text, failureHint(error)]
  return (
    <div role="alert" className="alert alert-danger">
      {text}
      {detail && <span className="failure-hint">{detail}</span>}
    </div>
  )
}
