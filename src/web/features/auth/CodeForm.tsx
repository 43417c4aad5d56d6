import type { FormEvent, ReactNode } from 'react'
import { useState } from 'react'
import { SubmitButton } from '../../ui/form/SubmitButton'
import { CodeField } from './CodeField'

type CodeFormProps = {
  busy: boolean
  onSubmit: (code: string) => Promise<{ error?: unknown }>
  before?: ReactNode
  after?: ReactNode
}

export function CodeForm({ busy, onSubmit, before, after }: CodeFormProps) {
  const [code, setCode] = useState('')
  const [tries, setTries] = useState(0)

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    const { error } = await onSubmit(code)
    if (!error) return
    // A one-time code is accepted once, so it cannot be sent again.
    setCode('')
    setTries(tries + 1)
  }

  return (
    <form className="auth-form" onSubmit={submit}>
      {before}
      <CodeField code={code} tries={tries} onChange={setCode} />
      <SubmitButton busy={busy}>Verify Code</SubmitButton>
      {after}
    </form>
  )
}
