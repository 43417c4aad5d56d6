import type { FormEvent, ReactNode } from 'react'
import { useId } from 'react'
import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { BusyButton } from '../form/BusyButton'
import { useOneAtATime } from '../useOneAtATime'

type FormDialogProps = {
  title: string
  action: string
  /** Text of the button while busy. */
  busyText: string
  busy: boolean
  /** Disables the submit button, for example while the input is invalid. */
  disabled?: boolean
  variant?: 'primary' | 'danger'
  /** Whether a click outside leaves the dialog open, so that it does not discard the input. */
  ignoresOutsideClicks?: boolean
  /** For a form with several columns. */
  isWide?: boolean
  onSubmit: () => unknown
  onClose: () => unknown
  children: ReactNode
}

/** A form in a dialog. While busy it cannot be closed or submitted again. */
export function FormDialog({
  title,
  action,
  busyText,
  busy,
  disabled = false,
  variant = 'primary',
  ignoresOutsideClicks = false,
  isWide = false,
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
    <Modal
      show
      onHide={close}
      centered
      scrollable
      backdrop={ignoresOutsideClicks ? 'static' : true}
      {...(isWide && { size: 'lg' as const })}
      aria-labelledby={id}
    >
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
          <BusyButton
            type="submit"
            variant={variant}
            disabled={disabled}
            busy={busy}
            busyText={busyText}
            // The second click of the double click that opened the dialog.
            onClick={(event) => event.detail > 1 && event.preventDefault()}
          >
            {action}
          </BusyButton>
        </Modal.Footer>
      </form>
    </Modal>
  )
}
