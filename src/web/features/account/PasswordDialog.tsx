import { useState } from 'react'
import { useDispatch } from 'react-redux'
import { CODE_LENGTH, CODE_PATTERN, PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../../../contract/rules'
import { useChangePasswordMutation } from '../../api/account'
import { failureText, isNotOffered } from '../../failure'
import { useReportResult } from '../../api/useReportResult'
import { Field } from '../../ui/form/Field'
import { FormDialog } from '../../ui/dialog/FormDialog'
import { accountDialogClosed } from './accountSlice'
import { FailureAlert } from '../../ui/FailureAlert'

// Secrets stay in component state, because the action log records the store.
const emptyValues = { password: '', newPassword: '', repeated: '', token: '' }

export function PasswordDialog() {
  const [values, setValues] = useState(emptyValues)
  /** The field to focus. Set on submit only, so that the focus stays while the user corrects a field. */
  const [attempt, setAttempt] = useState({ count: 0, at: 'password' })
  const [change, { isLoading, error }] = useChangePasswordMutation()
  const report = useReportResult()
  const dispatch = useDispatch()
  const type = (field: keyof typeof emptyValues) => (text: string) => setValues({ ...values, [field]: text })

  const { password, newPassword, repeated, token } = values
  const broken = {
    password: password === '',
    newPassword: newPassword.length < PASSWORD_MIN_LENGTH || newPassword.length > PASSWORD_MAX_LENGTH,
    repeated: repeated !== newPassword,
    token: !CODE_PATTERN.test(token),
  }
  const firstBroken = Object.entries(broken).find(([, isBroken]) => isBroken)?.[0]
  const fieldState = (field: keyof typeof emptyValues) => ({
    broken: attempt.count > 0 && broken[field],
    focused: field === attempt.at,
    focusKey: attempt.count,
  })

  const submit = async () => {
    if (firstBroken) return setAttempt({ count: attempt.count + 1, at: firstBroken })
    const result = await change({ password, newPassword, token })
    report(result, 'Password changed. All your other sessions have ended.', 'Failed to change the password')
    if (!result.error) return void dispatch(accountDialogClosed())
    // A one-time code is accepted once, so it cannot be sent again.
    setValues({ ...values, token: '' })
    const isOldWrong = 'code' in result.error && result.error.code === 'BAD_CREDENTIALS'
    setAttempt({ count: attempt.count + 1, at: isOldWrong ? 'password' : 'token' })
  }

  return (
    <FormDialog
      title="Change Password"
      action="Change"
      busyText="Changing..."
      busy={isLoading}
      ignoresOutsideClicks
      onSubmit={submit}
      onClose={() => dispatch(accountDialogClosed())}
    >
      {error && isNotOffered(error) ? (
        <div role="alert" className="alert alert-danger">
          This server does not offer changing your password.
        </div>
      ) : (
        <FailureAlert error={error} text={failureText(error, 'Failed to change the password')} />
      )}
      <Field
        label="Current password"
        rule={attempt.count > 0 && broken.password ? 'Please enter your current password' : undefined}
        {...fieldState('password')}
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={type('password')}
      />
      <Field
        label="New password"
        rule={`${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters`}
        {...fieldState('newPassword')}
        type="password"
        autoComplete="new-password"
        required
        value={newPassword}
        onChange={type('newPassword')}
      />
      <Field
        label="Repeat new password"
        rule={attempt.count > 0 && broken.repeated ? 'The two passwords differ' : undefined}
        {...fieldState('repeated')}
        type="password"
        autoComplete="new-password"
        required
        value={repeated}
        onChange={type('repeated')}
      />
      <Field
        label="Verification code"
        rule={`The ${CODE_LENGTH} digits that your authenticator app shows now`}
        {...fieldState('token')}
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        value={token}
        onChange={(text) => type('token')(text.replace(/\D/g, '').slice(0, CODE_LENGTH))}
      />
      <p className="form-text">All your other sessions end.</p>
    </FormDialog>
  )
}
