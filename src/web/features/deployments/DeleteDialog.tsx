import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { useDispatch } from 'react-redux'
import { useDeleteDeploymentMutation } from '../../api/deployments'
import { CallFailure } from './CallFailure'
import { dialogClosed } from './deploymentsSlice'
import { useReport } from './useReport'
import '../../styles/modal.scss'

export function DeleteDialog({ name }: { name: string }) {
  const [remove, { isLoading, error }] = useDeleteDeploymentMutation()
  const report = useReport()
  const dispatch = useDispatch()
  const close = () => !isLoading && dispatch(dialogClosed('delete'))

  const onDelete = async () => {
    if (isLoading) return
    const result = await remove(name)
    report(result, `Successfully deleted ${name}`, `Failed to delete ${name}`)
    if (!result.error) dispatch(dialogClosed('delete'))
  }

  return (
    <Modal show onHide={close} centered aria-labelledby="delete-title">
      <Modal.Header closeButton={!isLoading}>
        <Modal.Title as="h2" id="delete-title">
          Delete Deployment
        </Modal.Title>
      </Modal.Header>
      <Modal.Body>
        <CallFailure error={error} text={`Failed to delete ${name}`} />
        <p>Are you sure you want to delete the deployment &quot;{name}&quot;?</p>
        <p>This action cannot be undone.</p>
        <p className="form-text">Its instances are stopped first. Its files stay where they are.</p>
      </Modal.Body>
      <Modal.Footer>
        <Button variant="outline-secondary" aria-disabled={isLoading} onClick={close}>
          Cancel
        </Button>
        <Button variant="danger" className="with-spinner" aria-disabled={isLoading} aria-busy={isLoading} onClick={onDelete}>
          {isLoading && <span className="spinner-border spinner-border-sm" aria-hidden="true" />}
          {isLoading ? 'Deleting...' : 'Delete'}
        </Button>
      </Modal.Footer>
    </Modal>
  )
}
