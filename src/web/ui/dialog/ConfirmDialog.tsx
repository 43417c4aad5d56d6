import type { ReactNode } from 'react'
import { useId } from 'react'
import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { BusyButton } from '../form/BusyButton'
import { oncePerPress } from '../oncePerPress'
import { useOneAtATime } from '../useOneAtATime'

type ConfirmDialogProps = {
  title: string
  /** Text of the button, and its text while busy. */
  action: string
  busyText: string
  busy: boolean
  onConfirm: () => unknown
  onClose: () => unknown
  children: ReactNode
}

/** Asks for confirmation of an irreversible action. While busy it cannot be closed or confirmed again. */
export function ConfirmDialog({ title, action, busyText, busy, onConfirm, onClose, children }: ConfirmDialogProps) {
  const id = useId()
  const confirmOnce = useOneAtATime(onConfirm)
  const close = () => {
    if (!busy) onClose()
  }
  return (
    <Modal show onHide={close} centered aria-labelledby={id}>
      <Modal.Header closeButton={!busy}>
        <Modal.Title as="h2" id={id}>
          {title}
        </Modal.Title>
      </Modal.Header>
      <Modal.Body>{children}</Modal.Body>
      <Modal.Footer>
        <Button variant="outline-secondary" aria-disabled={busy} onClick={close}>
          Cancel
        </Button>
        <BusyButton
          variant="danger"
          busy={busy}
          busyText={busyText}
          {...oncePerPress(() => !busy && void confirmOnce())}
        >
          {action}
        </BusyButton>
      </Modal.Footer>
    </Modal>
  )
}
