import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { useDispatch, useSelector } from 'react-redux'
import type { ConflictAnswer, Upload } from './uploadSlice'
import { conflictAnswered, forAllChosen, selectIsForAll } from './uploadSlice'
import { Checkbox } from '../../../ui/form/Checkbox'
import { oncePerPress } from '../../../ui/oncePerPress'
import styles from './transfers.module.scss'

/** `others` is the number of further conflicts in the same batch. */
export function UploadConflictDialog({ upload, others }: { upload: Upload; others: number }) {
  const isForAll = useSelector(selectIsForAll)
  const dispatch = useDispatch()
  const answer = (given: ConflictAnswer) => () => dispatch(conflictAnswered({ id: upload.id, answer: given }))
  // The dialog asks for the next file at once.
  const pressed = (given: ConflictAnswer) => oncePerPress(answer(given))
  return (
    // Escape and a click outside choose the answer that changes nothing.
    <Modal
      show
      onHide={answer('skip')}
      onEscapeKeyDown={(event) => event.repeat && event.preventDefault()}
      centered
      aria-labelledby="conflict-title"
    >
      <Modal.Header>
        <Modal.Title as="h2" id="conflict-title">
          File Exists
        </Modal.Title>
      </Modal.Header>
      <Modal.Body className={styles.conflict}>
        <p>
          &quot;<bdi>{upload.name}</bdi>&quot; exists already in <code>{upload.directory}</code>.
        </p>
        <Checkbox checked={isForAll} onChange={(checked) => dispatch(forAllChosen(checked))}>
          Do this for all files of this upload{others > 0 && ` (${others} more so far)`}
        </Checkbox>
      </Modal.Body>
      <Modal.Footer>
        <Button variant="outline-secondary" {...pressed('skip')}>
          Skip
        </Button>
        <Button variant="outline-secondary" {...pressed('keepBoth')}>
          Keep both
        </Button>
        <Button variant="danger" {...pressed('replace')}>
          Replace
        </Button>
      </Modal.Footer>
    </Modal>
  )
}
