import { useState } from 'react'
import { useDispatch } from 'react-redux'
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../../../../contract/rules'
import { useGetUsersQuery, useSetPasswordMutation } from '../../../api/admin'
import { FormDialog } from '../../../ui/dialog/FormDialog'
import { Checkbox } from '../../../ui/form/Checkbox'
import { NewPasswordField } from '../../../ui/form/NewPasswordField'
import { dialogClosed } from '../adminSlice'
import { useReportQuietly } from '../../../api/useReportResult'
import { useOwnId } from '../useOwnId'

export function ResetPasswordDialog({ id }: { id: number }) {
  const { data: users } = useGetUsersQuery()
  const username = users?.find((user) => user.id === id)?.username ?? `user ${id}`
  const isOwn = useOwnId(users) === id
  // A secret: it stays in component state.
  const [password, setPassword] = useState('')
  const [endsOtherAccess, setEndsOtherAccess] = useState(false)
  const [tries, setTries] = useState(0)
  const [reset, { isLoading }] = useSetPasswordMutation()
  const report = useReportQuietly()
  const dispatch = useDispatch()
  const problem = problemOf(password)

  const submit = async () => {
    setTries(tries + 1)
    if (problem) return
    // Other servers do not know the field.
    const result = await reset({ id, password, ...(endsOtherAccess && { endOtherAccess: true }) })
    report(result, `Successfully reset the password of ${username}`, `Failed to reset the password of ${username}`)
    if (!result.error) dispatch(dialogClosed('resetPassword'))
  }

  return (
    <FormDialog
      title="Reset Password"
      action="Reset"
      busyText="Resetting..."
      busy={isLoading}
      onSubmit={submit}
      onClose={() => dispatch(dialogClosed('resetPassword'))}
    >
      <p>
        Set a new password for <strong>{username}</strong>.
      </p>
      <NewPasswordField
        label="New password"
        rule={tries > 0 && problem ? problem : `${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters`}
        broken={tries > 0 && problem !== undefined}
        focused
        focusKey={tries}
        value={password}
        onChange={setPassword}
      />
      <p className="form-text">
        {isOwn
          ? 'All your sessions end at once, including this one: you must sign in again with the new password.'
          : 'All their sessions end at once.'}
      </p>
      <Checkbox checked={endsOtherAccess} onChange={setEndsOtherAccess}>
        Also end its API keys, passkeys, invite codes and connection to single sign-on
      </Checkbox>
      <p className="form-text">
        {endsOtherAccess
          ? 'Afterwards the account can only be used with the new password. Authenticator apps and recovery codes stay.'
          : 'Otherwise these stay: anyone with a passkey or an API key of the account can still use it.'}
      </p>
    </FormDialog>
  )
}

/** Product §5 gives the first two texts. */
function problemOf(password: string): string | undefined {
  if (password.trim() === '') return 'Password cannot be empty'
  if (password.length < PASSWORD_MIN_LENGTH) return `Password must be at least ${PASSWORD_MIN_LENGTH} characters`
  if (password.length > PASSWORD_MAX_LENGTH) return `Password must be at most ${PASSWORD_MAX_LENGTH} characters`
}
