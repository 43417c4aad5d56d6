import type { FormEvent } from 'react'
import { useState } from 'react'
import { useSearchParams } from 'react-router-dom'
import { Field } from '../../ui/Field'
import { SubmitButton } from '../../ui/SubmitButton'

export function InviteStep({ busy, onSubmit }: { busy: boolean; onSubmit: (inviteCode: string) => unknown }) {
  const [parameters] = useSearchParams()
  const [code, setCode] = useState(parameters.get('invite') ?? '')

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!busy) onSubmit(code.trim())
  }

  return (
    <form className="auth-form" onSubmit={submit}>
      <Field
        label="Invite code"
        rule="You get one from an administrator."
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        required
        focused
        value={code}
        onChange={setCode}
      />
      <SubmitButton busy={busy}>Continue</SubmitButton>
    </form>
  )
}
