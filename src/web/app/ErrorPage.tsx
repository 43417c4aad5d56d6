import { Notice } from '../ui/Notice'

/** What is left of a page that broke. The links load the page afresh: the broken state must not come along. */
export function ErrorPage() {
  return (
    <Notice
      title="Something went wrong"
      icon="alert"
      alert
      actions={
        <>
          <button type="button" className="btn btn-primary" onClick={() => window.location.reload()}>
            Reload page
          </button>
          <a href="/" className="btn btn-outline-secondary">
            Return Home
          </a>
        </>
      }
    >
      <title>Something went wrong · Quarterdeck</title>
      <p>This page could not be shown. Reloading it usually helps; nothing you saved is lost.</p>
    </Notice>
  )
}
