import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { useDispatch, useSelector } from 'react-redux'
import { useGetAccountQuery, useGetOwnSessionsQuery } from '../../api/account'
import { failureDetail, isNotOffered } from '../../failure'
import { LoadFailure } from '../../ui/LoadFailure'
import { accountDialogClosed, selectEnding, sessionEndRequested } from './accountSlice'
import { EndSessionsDialog } from './EndSessionsDialog'
import { PreviousSignInText } from './PreviousSignInText'
import { SessionItem } from './SessionItem'
import { SessionsSkeleton } from './SessionsSkeleton'
import styles from './account.module.scss'

export function SessionsDialog() {
  const { data, error, isFetching, refetch } = useGetOwnSessionsQuery(undefined, { refetchOnMountOrArgChange: true })
  const previous = useGetAccountQuery().data?.previous_sign_in
  const ending = useSelector(selectEnding)
  const dispatch = useDispatch()
  const close = () => dispatch(accountDialogClosed())

  // The current session first, then the most recently used.
  const sessions = data?.toSorted(
    (a, b) => Number(b.current) - Number(a.current) || b.last_used_at.localeCompare(a.last_used_at),
  )
  const others = sessions?.filter(({ current }) => !current) ?? []

  // The confirmation replaces the list: only one dialog is open at a time.
  if (ending) return <EndSessionsDialog ending={ending} sessions={others} />
  return (
    <Modal show onHide={close} centered scrollable aria-labelledby="sessions-title">
      <Modal.Header closeButton>
        <Modal.Title as="h2" id="sessions-title">
          Your sessions
        </Modal.Title>
      </Modal.Header>
      <Modal.Body tabIndex={0} role="group" aria-labelledby="sessions-title">
        {error && isNotOffered(error) && <p>This server does not offer a list of your sessions.</p>}
        {error && !isNotOffered(error) && (
          <LoadFailure
            title="Failed to load your sessions"
            as="h3"
            detail={failureDetail(error)}
            busy={isFetching}
            onRetry={refetch}
          />
        )}
        {!data && !error && <SessionsSkeleton />}
        {previous && (
          <p className={styles.sessionTrace}>
            <PreviousSignInText {...previous} />
          </p>
        )}
        {sessions && (
          <ul className={styles.sessions}>
            {sessions.map((session) => (
              <SessionItem key={session.id} session={session} />
            ))}
          </ul>
        )}
        {sessions && others.length === 0 && <p className={styles.sessionsAlone}>You are signed in nowhere else.</p>}
      </Modal.Body>
      <Modal.Footer>
        {others.length > 1 && (
          <Button variant="outline-danger" onClick={() => dispatch(sessionEndRequested('others'))}>
            End all others
          </Button>
        )}
        <Button variant="outline-secondary" onClick={close}>
          Close
        </Button>
      </Modal.Footer>
    </Modal>
  )
}
