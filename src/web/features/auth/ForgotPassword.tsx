import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { useDispatch } from 'react-redux'
import { forgotPasswordClosed } from './loginSlice'
import '../../styles/modal.scss'

export function ForgotPassword() {
  const dispatch = useDispatch()
  const close = () => dispatch(forgotPasswordClosed())
  return (
    <Modal show onHide={close} centered aria-labelledby="forgot-title">
      <Modal.Header closeButton>
        <Modal.Title as="h2" id="forgot-title">
          Forgot your password?
        </Modal.Title>
      </Modal.Header>
      <Modal.Body>
        <p>Please contact your system administrator. They can set a new password for your account.</p>
      </Modal.Body>
      <Modal.Footer>
        <Button onClick={close}>Close</Button>
      </Modal.Footer>
    </Modal>
  )
}
