import { useDispatch } from 'react-redux'
import { useEndUserSessionMutation, useEndUserSessionsMutation, useGetUserSessionsQuery } from '../../../api/users'
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog'
import { counted } from '../../../ui/counted'
import { deviceOf } from '../../../ui/deviceOf'
import { dialogClosed } from '../adminSlice'
import { useReportQuietly } from '../../../api/useReportResult'

type EndSessionsDialogProps = {
  userId: number
  /** Undefined: all sessions of the user. */
  sessionId: string | undefined
}

export function EndSessionsDialog({ userId, sessionId }: EndSessionsDialogProps) {
  const { data: sessions = [] } = useGetUserSessionsQuery(userId)
  const [endOne, one] = useEndUserSessionMutation()
  const [endAll, all] = useEndUserSessionsMutation()
  const report = useReportQuietly()
  const dispatch = useDispatch()
  const close = () => dispatch(dialogClosed('endSessions'))
  const session = sessions.find(({ id }) => id === sessionId)
  const endsAll = sessionId === undefined
  const endsOwn = endsAll && sessions.some(({ current }) => current)

  const end = async () => {
    const result = endsAll ? await endAll(userId) : await endOne({ id: userId, of: sessionId })
    report(
      result,
      endsAll ? 'Ended all sessions' : 'Ended the session',
      endsAll ? 'Failed to end the sessions' : 'Failed to end the session',
    )
    if (!result.error) close()
  }

  return (
    <ConfirmDialog
      title={endsAll ? 'End All Sessions' : 'End Session'}
      action="End"
      busyText="Ending..."
      busy={one.isLoading || all.isLoading}
      onConfirm={end}
      onClose={close}
    >
      {endsAll ? (
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
