import { useDispatch } from 'react-redux'
import type { OwnSession } from '../../../contract/signIn/auth'
import { useEndOtherSessionsMutation, useEndSessionMutation } from '../../api/account'
import { useReportResult } from '../../api/useReportResult'
import { counted } from '../../ui/counted'
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog'
import { type AccountState, sessionEndDismissed } from './accountSlice'
import { deviceOf } from '../../ui/deviceOf'
import { FailureAlert } from '../../ui/FailureAlert'
import { failureText } from '../../failure'

type EndSessionsDialogProps = {
  ending: NonNullable<AccountState['ending']>
  /** All sessions except the current one. */
  sessions: OwnSession[]
}

export function EndSessionsDialog({ ending, sessions }: EndSessionsDialogProps) {
  const [endOne, one] = useEndSessionMutation()
  const [endOthers, others] = useEndOtherSessionsMutation()
  const report = useReportResult()
  const dispatch = useDispatch()
  const close = () => dispatch(sessionEndDismissed())
  const session = ending === 'others' ? undefined : sessions.find(({ id }) => id === ending.id)

  const end = async () => {
    const result = ending === 'others' ? await endOthers() : await endOne(ending.id)
    report(
      result,
      ending === 'others' ? 'Ended all other sessions' : 'Ended the session',
      ending === 'others' ? 'Failed to end the other sessions' : 'Failed to end the session',
    )
    if (!result.error) close()
  }

  return (
    <ConfirmDialog
      title={ending === 'others' ? 'End All Other Sessions' : 'End Session'}
      action="End"
      busyText="Ending..."
      busy={one.isLoading || others.isLoading}
      onConfirm={end}
      onClose={close}
    >
      <FailureAlert
        error={one.error ?? others.error}
        text={failureText(one.error ?? others.error, 'Failed to end the session')}
      />
      {ending === 'others' ? (
        <p>End your {counted(sessions.length, 'other session')}?</p>
      ) : (
        <p>
          End the session of <strong>{session ? deviceOf(session.device) : 'this device'}</strong>
          {session && ` at ${session.address}`}?
        </p>
      )}
      <p className="form-text">Its user is signed out at once, and open consoles are closed.</p>
    </ConfirmDialog>
  )
}
