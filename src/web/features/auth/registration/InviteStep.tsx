import type { FormEvent } from 'react'
import { useEffect, useState } from 'react'
import { useLocation, useSearchParams } from 'react-router-dom'
import { Field } from '../../../ui/form/Field'
import { SubmitButton } from '../../../ui/form/SubmitButton'

export function InviteStep({ busy, onSubmit }: { busy: boolean; onSubmit: (inviteCode: string) => unknown }) {
  const [parameters, setParameters] = useSearchParams()
  const { state } = useLocation() as { state: { invite?: unknown } | null }
  const linked = parameters.get('invite')
  const [code, setCode] = useState(linked ?? (typeof state?.invite === 'string' ? state.invite : ''))

  useEffect(() => {
    // Anyone who has the code can register, so it is removed from the address. A reload finds it in the history state.
    if (linked !== null) setParameters({}, { replace: true, state: { invite: linked } })
  }, [linked, setParameters])

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
