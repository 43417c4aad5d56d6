import type { FormEvent, ReactNode } from 'react'
import { useId } from 'react'
import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { BusyButton } from './BusyButton'
import { useOneAtATime } from './useOneAtATime'
import '../styles/modal.scss'

type FormDialogProps = {
  title: string
  action: string
  /** What the button says while it does it. */
  busyText: string
  busy: boolean
  /** There is nothing yet that could be sent. */
  disabled?: boolean
  variant?: 'primary' | 'danger'
  /** Whether a click beside it does not close it: what was typed into it would be gone. */
  isKept?: boolean
  onSubmit: () => unknown
  onClose: () => unknown
  children: ReactNode
}

/** A form with one way to say yes. While that is under way it stays, and does nothing twice. */
export function FormDialog({
  title,
  action,
  busyText,
  busy,
  disabled = false,
  variant = 'primary',
  isKept = false,
  onSubmit,
  onClose,
  children,
}: FormDialogProps) {
  const id = useId()
  const close = () => {
    if (!busy) onClose()
  }
  const submitOnce = useOneAtATime(onSubmit)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!busy) void submitOnce()
  }
  return (
    <Modal show onHide={close} centered backdrop={isKept ? 'static' : true} aria-labelledby={id}>
      <form onSubmit={submit} noValidate>
        <Modal.Header closeButton={!busy}>
          <Modal.Title as="h2" id={id}>
            {title}
          </Modal.Title>
        </Modal.Header>
        <Modal.Body className="form-dialog">{children}</Modal.Body>
        <Modal.Footer>
          <Button variant="outline-secondary" aria-disabled={busy} onClick={close}>
            Cancel
          </Button>
          <BusyButton type="submit" variant={variant} disabled={disabled} busy={busy} busyText={busyText}>
            {action}
          </BusyButton>
        </Modal.Footer>
      </form>
    </Modal>
  )
}
