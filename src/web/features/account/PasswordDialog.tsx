import { useState } from 'react'
import { useDispatch } from 'react-redux'
import { CODE_LENGTH, CODE_PATTERN, PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '../../../contract/rules'
import { useChangePasswordMutation } from '../../api/account'
import { CallFailure } from '../../api/CallFailure'
import { isNotOffered } from '../../api/failure'
import { useReport } from '../../api/useReport'
import { Field } from '../../ui/Field'
import { FormDialog } from '../../ui/FormDialog'
import { accountDialogClosed } from './accountSlice'

// Secrets stay in the component: the store is recorded.
const nothing = { password: '', newPassword: '', repeated: '', token: '' }

export function PasswordDialog() {
  const [typed, setTyped] = useState(nothing)
  /** Where the last try went wrong; decided then, so that the focus does not move under who corrects it. */
  const [tried, setTried] = useState({ count: 0, at: 'password' })
  const [change, { isLoading, error }] = useChangePasswordMutation()
  const report = useReport()
  const dispatch = useDispatch()
  const type = (field: keyof typeof nothing) => (text: string) => setTyped({ ...typed, [field]: text })

  const { password, newPassword, repeated, token } = typed
  const broken = {
    password: password === '',
    newPassword: newPassword.length < PASSWORD_MIN_LENGTH || newPassword.length > PASSWORD_MAX_LENGTH,
    repeated: repeated !== newPassword,
    token: !CODE_PATTERN.test(token),
  }
  const first = Object.entries(broken).find(([, isBroken]) => isBroken)?.[0]
  const judge = (field: keyof typeof nothing) => ({
    broken: tried.count > 0 && broken[field],
    focused: field === tried.at,
    focusKey: tried.count,
  })

  const submit = async () => {
    if (first) return setTried({ count: tried.count + 1, at: first })
    const result = await change({ password, newPassword, token })
    report(result, 'Password changed. All your other sessions have ended.', 'Failed to change the password')
    if (!result.error) return void dispatch(accountDialogClosed())
    // A code that was sent is never right the next time.
    setTyped({ ...typed, token: '' })
    const isOldWrong = 'code' in result.error && result.error.code === 'BAD_CREDENTIALS'
    setTried({ count: tried.count + 1, at: isOldWrong ? 'password' : 'token' })
  }

  return (
    <FormDialog
      title="Change password"
      action="Change"
      busyText="Changing..."
      busy={isLoading}
      isKept
      onSubmit={submit}
      onClose={() => dispatch(accountDialogClosed())}
    >
      {error && isNotOffered(error) ? (
        <div role="alert" className="alert alert-danger">
          This server does not offer changing your password.
        </div>
      ) : (
        <CallFailure error={error} text="Failed to change the password" />
      )}
      <Field
        label="Current password"
        rule={tried.count > 0 && broken.password ? 'Please enter your current password' : undefined}
        {...judge('password')}
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={type('password')}
      />
      <Field
        label="New password"
        rule={`${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters`}
        {...judge('newPassword')}
        type="password"
        autoComplete="new-password"
        required
        value={newPassword}
        onChange={type('newPassword')}
      />
      <Field
        label="Repeat new password"
        rule={tried.count > 0 && broken.repeated ? 'The two passwords differ' : undefined}
        {...judge('repeated')}
        type="password"
        autoComplete="new-password"
        required
        value={repeated}
        onChange={type('repeated')}
      />
      <Field
        label="Verification code"
        rule={`The ${CODE_LENGTH} digits that your authenticator app shows now`}
        {...judge('token')}
        inputMode="numeric"
        autoComplete="one-time-code"
        placeholder="000000"
        required
        value={token}
        onChange={(text) => type('token')(text.replace(/\D/g, '').slice(0, CODE_LENGTH))}
      />
      <p className="form-text">All your other sessions end.</p>
    </FormDialog>
  )
}
