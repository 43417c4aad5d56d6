import type { ReactNode } from 'react'
import { useId } from 'react'
import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { oncePerPress } from '../oncePerPress'

type QuestionDialogProps = {
  title: string
  children: ReactNode
  /** In the order of other dialogs: the one that changes nothing on the left, the main one on the right. */
  answers: { text: string; onChoose: () => void; variant?: 'danger' | 'outline-secondary' | 'primary' }[]
  onClose: () => void
}

/** Asks the user to choose an answer. May be opened above another dialog. */
export function QuestionDialog({ title, children, answers, onClose }: QuestionDialogProps) {
  const id = useId()
  return (
    <Modal
      show
      onHide={onClose}
      centered
      aria-labelledby={id}
      className="question"
      backdropClassName="question-backdrop"
    >
      <Modal.Header closeButton>
        <Modal.Title as="h2" id={id}>
          {title}
        </Modal.Title>
      </Modal.Header>
      <Modal.Body>{children}</Modal.Body>
      <Modal.Footer>
        {answers.map(({ text, onChoose, variant = 'outline-secondary' }) => (
          <Button key={text} variant={variant} {...oncePerPress(onChoose)}>
            {text}
          </Button>
        ))}
      </Modal.Footer>
    </Modal>
  )
}
