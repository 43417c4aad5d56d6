import { useStore } from 'react-redux'
import { exportActionLog } from '../../actionLog/export/exportActionLog'
import { basePath } from '../../basePath'
import { Notice } from '../../ui/Notice'
import type { AppStore } from '../store'

/** Replaces a page that threw. Its links reload the document, so that no broken state is kept. */
export function ErrorPage() {
  const store = useStore() as AppStore
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
          <a href={`${basePath()}/`} className="btn btn-outline-secondary">
            Return Home
          </a>
          <button type="button" className="btn btn-outline-secondary" onClick={() => exportActionLog(store)}>
            Export action log
          </button>
        </>
      }
    >
      <title>Something went wrong · Quarterdeck</title>
      <p>This page could not be shown. Reloading it usually helps; nothing you saved is lost.</p>
      <p>The action log shows what happened before, without passwords, codes or console output.</p>
    </Notice>
  )
}
