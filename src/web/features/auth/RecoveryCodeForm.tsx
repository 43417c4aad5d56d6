import type { FormEvent } from 'react'
import { useState } from 'react'
import { useVerifyRecoveryCodeMutation } from '../../api/signIn/otherSignIns'
import { failureText } from '../../failure'
import { FailureAlert } from '../../ui/FailureAlert'
import { Field } from '../../ui/form/Field'
import { SubmitButton } from '../../ui/form/SubmitButton'

/** The second step with a recovery code instead of a one-time code. */
export function RecoveryCodeForm() {
  const [code, setCode] = useState('')
  const [tries, setTries] = useState(0)
  const [verify, { isLoading, error }] = useVerifyRecoveryCodeMutation()

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isLoading || code.trim() === '') return
    const result = await verify({ recoveryCode: code.trim() })
    if (result.error) setTries(tries + 1)
  }

  return (
    <form className="auth-form" onSubmit={submit}>
      <FailureAlert error={error} text={failureText(error, 'verification failed please try again')} />
      <Field
        label="Recovery code"
        rule="One of the ten that you kept. Each works once."
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        placeholder="XXXX-XXXX-XXXX-XXXX"
        required
        focused
        focusKey={tries}
        value={code}
        onChange={setCode}
      />
      <SubmitButton busy={isLoading}>Sign in with this code</SubmitButton>
    </form>
  )
}
