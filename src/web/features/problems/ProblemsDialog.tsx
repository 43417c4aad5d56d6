import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { useDispatch, useSelector } from 'react-redux'
import { CopyButton } from '../../ui/copy/CopyButton'
import { TimeAgo } from '../../ui/time/TimeAgo'
import type { LoggedProblem } from './problemsSlice'
import { problemsClosed, selectProblems } from './problemsSlice'
import styles from './problems.module.scss'

export function ProblemsDialog() {
  const problems = useSelector(selectProblems)
  const dispatch = useDispatch()
  const close = () => dispatch(problemsClosed())
  return (
    <Modal show onHide={close} centered scrollable aria-labelledby="problems-title">
      <Modal.Header closeButton>
        <Modal.Title as="h2" id="problems-title">
          Problems
        </Modal.Title>
      </Modal.Header>
      <Modal.Body tabIndex={0} role="group" aria-labelledby="problems-title">
        {problems.length === 0 ? (
          <p className={styles.problemsNone}>Nothing has failed since you signed in or reloaded this page.</p>
        ) : (
          <ul className={styles.problems}>
            {problems.map((problem) => (
              <ProblemItem key={problem.id} {...problem} />
            ))}
          </ul>
        )}
      </Modal.Body>
      <Modal.Footer>
        <Button variant="outline-secondary" onClick={close}>
          Close
        </Button>
      </Modal.Footer>
    </Modal>
  )
}

function ProblemItem({ at, what, reason, count }: LoggedProblem) {
  const times = count > 1 ? `, ${count} times` : ''
  return (
    <li className={styles.problem}>
      <div>
        <p className={styles.problemWhat}>{what}</p>
        <p className={styles.problemReason}>{reason}</p>
        <p className={styles.problemTime}>
          {clockTime.format(at)} · <TimeAgo time={at} />
          {times}
        </p>
      </div>
      <CopyButton text={`${new Date(at).toISOString()}${times} ${what}: ${reason}`} label={`Copy: ${what}`} />
    </li>
  )
}

const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
