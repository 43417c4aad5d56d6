/** Keeps its size, label and focus while busy: it is not disabled, so the form must ignore a second submit. */
export function SubmitButton({ busy, children }: { busy: boolean; children: string }) {
  return (
    <button type="submit" className="btn btn-primary submit" aria-disabled={busy} aria-busy={busy}>
      {busy && <span className="spinner-border spinner-border-sm" aria-hidden="true" />}
      {children}
    </button>
  )
}
