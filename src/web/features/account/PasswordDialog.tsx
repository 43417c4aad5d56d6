import { useState } from 'react'
import { useDispatch } from 'react-redux'
import { CODE_PATTERN, PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../../../contract/rules'
import { useChangePasswordMutation } from '../../api/signIn/ownMethods'
import { failureText, isCancelled, isNotOffered } from '../../failure'
import { useReportResult } from '../../api/useReportResult'
import { Field } from '../../ui/form/Field'
import { FormDialog } from '../../ui/dialog/FormDialog'
import { accountDialogClosed } from './accountSlice'
import { FailureAlert } from '../../ui/FailureAlert'
import { CodeOrPasskey } from './security/CodeOrPasskey'
import { useProofMethod } from './security/useProofMethod'

// Secrets stay in component state, because the action log records the store.
const emptyValues = { password: '', newPassword: '', repeated: '', code: '' }
const DIGITS = /^[0-9]*$/

export function PasswordDialog() {
  const [values, setValues] = useState(emptyValues)
  /** The field to focus. Set on submit only, so that the focus stays while the user corrects a field. */
  const [attempt, setAttempt] = useState({ count: 0, at: 'password' })
  const [change, { isLoading, error }] = useChangePasswordMutation()
  const report = useReportResult()
  const dispatch = useDispatch()
  const type = (field: keyof typeof emptyValues) => (text: string) => setValues({ ...values, [field]: text })

  const method = useProofMethod()
  const { byPasskey } = method

  const { password, newPassword, repeated } = values
  const code = values.code.replace(/\s/g, '')
  const broken = {
    password: password === '',
    newPassword: newPassword.length < PASSWORD_MIN_LENGTH || newPassword.length > PASSWORD_MAX_LENGTH,
    repeated: repeated !== newPassword,
    // A recovery code has letters.
    code: !byPasskey && DIGITS.test(code) && !CODE_PATTERN.test(code),
  }
  const firstBroken = Object.entries(broken).find(([, isBroken]) => isBroken)?.[0]
  const fieldState = (field: keyof typeof emptyValues) => ({
    broken: attempt.count > 0 && broken[field],
    focused: field === attempt.at,
    focusKey: attempt.count,
  })

  const submit = async () => {
    if (firstBroken) return setAttempt({ count: attempt.count + 1, at: firstBroken })
    const result = await change({ proof: byPasskey ? { password } : { password, code }, newPassword })
    if (!isCancelled(result.error))
      report(result, 'Password changed. All your other sessions have ended.', 'Failed to change the password')
    if (!result.error) return void dispatch(accountDialogClosed())
    // A code is accepted once, so it cannot be sent again.
    setValues({ ...values, code: '' })
    const isOldWrong = 'code' in result.error && result.error.code === 'BAD_CREDENTIALS'
    setAttempt({ count: attempt.count + 1, at: isOldWrong || byPasskey ? 'password' : 'code' })
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
      <CodeOrPasskey
        method={method}
        label="Verification code"
        {...fieldState('code')}
        value={values.code}
        onChange={type('code')}
      />
      <p className="form-text">All your other sessions end.</p>
    </FormDialog>
  )
}
