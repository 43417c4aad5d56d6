import { useId } from 'react'
import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { CopyButton } from '../../../ui/CopyButton'
import '../../../styles/modal.scss'
import styles from './keys.module.scss'

type CreatedKeyDialogProps = {
  name: string
  /** The key itself. */
  secret: string
  onClose: () => void
}

/** Shows a new key, which nobody can read again. A click outside does not close it. */
export function CreatedKeyDialog({ name, secret, onClose }: CreatedKeyDialogProps) {
  const id = useId()
  return (
    <Modal show onHide={onClose} centered backdrop="static" aria-labelledby={id}>
      <Modal.Header closeButton>
        <Modal.Title as="h2" id={id}>
          Your new API key
        </Modal.Title>
      </Modal.Header>
      <Modal.Body className="form-dialog">
        <p>
          <strong>Copy the key of {name} now: it will not be shown again.</strong> Keep it like a password.
        </p>
        <div className={styles.secret}>
          <code>{secret}</code>
          <CopyButton text={secret} label="Copy API key" />
        </div>
        <p className={`form-text ${styles.hint}`}>
          Programs send it as <code>Authorization: Bearer qd_…</code>
        </p>
      </Modal.Body>
      <Modal.Footer>
        <Button onClick={onClose}>I have copied it</Button>
      </Modal.Footer>
    </Modal>
  )
}
