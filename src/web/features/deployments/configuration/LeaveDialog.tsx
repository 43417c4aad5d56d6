import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { useDispatch } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import { useSignOut } from '../../../api/signIn/useSignOut'
import { oncePerPress } from '../../../ui/oncePerPress'
import type { Leaving } from '../../../ui/leave/useLeaveGuard'
import { dialogClosed } from './configurationSlice'

export function LeaveDialog({ name, leaving, onDiscard }: { name: string; leaving: Leaving; onDiscard: () => void }) {
  const dispatch = useDispatch()
  const navigate = useNavigate()
  const [signOut] = useSignOut()
  const stay = () => dispatch(dialogClosed())
  const leave = () => {
    dispatch(dialogClosed())
    onDiscard()
    if ('signingOut' in leaving) void signOut()
    else if ('to' in leaving) void navigate(leaving.to)
    else void navigate(leaving.by)
  }
  return (
    <Modal show onHide={stay} centered aria-labelledby="leave-title">
      <Modal.Header closeButton>
        <Modal.Title as="h2" id="leave-title">
          Leave without saving?
        </Modal.Title>
      </Modal.Header>
      <Modal.Body>
        <p>Your changes to the configuration of &quot;{name}&quot; are not saved.</p>
      </Modal.Body>
      <Modal.Footer>
        <Button variant="outline-secondary" {...oncePerPress(leave)}>
          Discard changes
        </Button>
        <Button onClick={stay}>Keep editing</Button>
      </Modal.Footer>
    </Modal>
  )
}
