import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { oncePerPress } from '../../ui/oncePerPress'

export function KillDialog({ name, onKill, onClose }: { name: string; onKill: () => void; onClose: () => void }) {
  return (
    <Modal show onHide={onClose} centered aria-labelledby="kill-title">
      <Modal.Header closeButton>
        <Modal.Title as="h2" id="kill-title">
          Kill Instance
        </Modal.Title>
      </Modal.Header>
      <Modal.Body>
        <p>Are you sure you want to kill &quot;{name}&quot;?</p>
        <p className="form-text">The instance ends at once and saves nothing. Stop lets it shut down in order.</p>
      </Modal.Body>
      <Modal.Footer>
        <Button variant="outline-secondary" onClick={onClose}>
          Cancel
        </Button>
        <Button variant="danger" {...oncePerPress(onKill)}>
          Kill
        </Button>
      </Modal.Footer>
    </Modal>
  )
}
