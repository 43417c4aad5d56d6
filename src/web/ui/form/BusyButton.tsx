import type { ButtonProps } from 'react-bootstrap/Button'
import Button from 'react-bootstrap/Button'

type BusyButtonProps = Omit<ButtonProps, 'children'> & { busy: boolean; children: string; busyText: string }

/** Shows `busyText` while busy, and keeps its focus: it is not disabled, so `onClick` must ignore further clicks. */
export function BusyButton({ busy, children, busyText, ...button }: BusyButtonProps) {
  return (
    <Button {...button} className="with-spinner" aria-disabled={busy} aria-busy={busy}>
      {busy && <span className="spinner-border spinner-border-sm" aria-hidden="true" />}
      {busy ? busyText : children}
    </Button>
  )
}
