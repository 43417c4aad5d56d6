import type { ReactNode } from 'react'
import { useState } from 'react'
import type { ProofInput } from '../../../api/signIn/ownMethods'
import { failureText } from '../../../failure'
import { FormDialog } from '../../../ui/dialog/FormDialog'
import { FailureAlert } from '../../../ui/FailureAlert'
import { Field } from '../../../ui/form/Field'
import { CodeOrPasskey } from './CodeOrPasskey'
import { useProofMethod } from './useProofMethod'

type ProofDialogProps = {
  title: string
  action: string
  busyText: string
  variant?: 'primary' | 'danger'
  /** The message if the server gives no reason. */
  failed: string
  busy: boolean
  error: unknown
  onProof: (proof: ProofInput) => Promise<{ error?: unknown }>
  onClose: () => void
  /** Describes the change. */
  children: ReactNode
}

/**
 * Asks for the password, and a code or a passkey, before a sign-in method is changed. The typed secrets stay in
 * component state.
 */
export function ProofDialog({ failed, busy, error, onProof, onClose, children, ...dialog }: ProofDialogProps) {
  const method = useProofMethod()
  const { byPasskey } = method
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  /** The field to focus. Set on submit only, so that the focus stays while the user corrects a field. */
  const [attempt, setAttempt] = useState({ count: 0, at: 'password', isIncomplete: false })
  const isMissing = { password: password === '', code: !byPasskey && code.trim() === '' }
  const fieldState = (field: 'password' | 'code') => ({
    broken: attempt.isIncomplete && isMissing[field],
    focused: field === attempt.at,
    focusKey: attempt.count,
  })
  const focus = (at: 'password' | 'code', isIncomplete: boolean) =>
    setAttempt({ count: attempt.count + 1, at, isIncomplete })

  const submit = async () => {
    if (isMissing.password || isMissing.code) return focus(isMissing.password ? 'password' : 'code', true)
    const result = await onProof(byPasskey ? { password } : { password, code: code.trim() })
    if (!result.error) return
    // A code is accepted once, so it cannot be sent again.
    setCode('')
    const isPassword = (result.error as { code?: string }).code === 'BAD_CREDENTIALS'
    focus(isPassword || byPasskey ? 'password' : 'code', false)
  }

  return (
    <FormDialog {...dialog} busy={busy} ignoresOutsideClicks onSubmit={submit} onClose={onClose}>
      {children}
      <FailureAlert error={error} text={failureText(error, failed)} />
      <Field
        label="Password"
        {...(attempt.isIncomplete && isMissing.password && { problem: 'Please enter your password' })}
        {...fieldState('password')}
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={setPassword}
      />
      <CodeOrPasskey method={method} label="Code" {...fieldState('code')} value={code} onChange={setCode} />
    </FormDialog>
  )
}
