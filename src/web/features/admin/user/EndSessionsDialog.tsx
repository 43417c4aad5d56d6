import { useDispatch } from 'react-redux'
import { useEndUserSessionMutation, useEndUserSessionsMutation, useGetUserSessionsQuery } from '../../../api/users'
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog'
import { counted } from '../../../ui/counted'
import { deviceOf } from '../../../ui/deviceOf'
import { dialogClosed } from '../adminSlice'
import { useReportQuietly } from '../../../api/useReportResult'

/** Without `of`: all sessions of the user. */
export function EndSessionsDialog({ id, of }: { id: number; of?: string | undefined }) {
  const { data: sessions = [] } = useGetUserSessionsQuery(id)
  const [endOne, one] = useEndUserSessionMutation()
  const [endAll, all] = useEndUserSessionsMutation()
  const report = useReportQuietly()
  const dispatch = useDispatch()
  const close = () => dispatch(dialogClosed('endSessions'))
  const session = sessions.find((candidate) => candidate.id === of)
  const endsOwn = of === undefined && sessions.some(({ current }) => current)

  const end = async () => {
    const result = of === undefined ? await endAll(id) : await endOne({ id, of })
    report(
      result,
      of === undefined ? 'Ended all sessions' : 'Ended the session',
      of === undefined ? 'Failed to end the sessions' : 'Failed to end the session',
    )
    if (!result.error) close()
  }

  return (
    <ConfirmDialog
      title={of === undefined ? 'End All Sessions' : 'End Session'}
      action="End"
      busyText="Ending..."
      busy={one.isLoading || all.isLoading}
      onConfirm={end}
      onClose={close}
    >
      {of === undefined ? (
        <p>End {counted(sessions.length, 'session')}?</p>
      ) : (
        <p>
          End the session of <strong>{session ? deviceOf(session.device) : 'this device'}</strong>
          {session && ` at ${session.address}`}?
        </p>
      )}
      <p className="form-text">
        {endsOwn
          ? 'Your own session ends, too: you must sign in again.'
          : 'Its user is signed out at once, and open consoles are closed.'}
      </p>
    </ConfirmDialog>
  )
}
