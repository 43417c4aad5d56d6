import type { ReactNode } from 'react'
import { useId } from 'react'
import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { oncePerPress } from '../../ui/oncePerPress'
import styles from './shownOnce.module.scss'

type ShownOnceDialogProps = {
  title: string
  /** Text of the button that closes the dialog. */
  action: string
  /** The secret and what to do with it. */
  children: ReactNode
  onClose: () => void
}

/** Shows a secret that cannot be shown again. A click outside does not close the dialog. */
export function ShownOnceDialog({ title, action, children, onClose }: ShownOnceDialogProps) {
  const id = useId()
  return (
    <Modal show onHide={onClose} centered backdrop="static" aria-labelledby={id}>
      <Modal.Header closeButton>
        <Modal.Title as="h2" id={id}>
          {title}
        </Modal.Title>
      </Modal.Header>
      <Modal.Body className="form-dialog">{children}</Modal.Body>
      <Modal.Footer>
        <Button {...oncePerPress(onClose)}>{action}</Button>
      </Modal.Footer>
    </Modal>
  )
}

/** A secret with buttons beside it. */
export function ShownSecret({ children, buttons }: { children: string; buttons: ReactNode }) {
  return (
    <div className={styles.secret}>
      <code>{children}</code>
      {buttons}
    </div>
  )
}
