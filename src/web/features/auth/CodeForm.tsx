import type { ReactNode } from 'react'
import { useState } from 'react'
import { SubmitButton } from '../../ui/form/SubmitButton'
import { CodeField } from './CodeField'

type CodeFormProps = {
  busy: boolean
  onSubmit: (code: string) => Promise<{ error?: unknown }>
  /** The length at which the code is sent without a click. */
  sentAt?: number
  before?: ReactNode
  after?: ReactNode
}

export function CodeForm({ busy, onSubmit, sentAt, before, after }: CodeFormProps) {
  const [code, setCode] = useState('')
  const [tries, setTries] = useState(0)

  const send = async (entered: string) => {
    if (busy) return
    const { error } = await onSubmit(entered)
    if (!error) return
    // A one-time code is accepted once, so it cannot be sent again.
    setCode('')
    setTries(tries + 1)
  }

  return (
    <form
      className="auth-form"
      onSubmit={(event) => {
        event.preventDefault()
        void send(code)
      }}
    >
      {before}
      <CodeField
        code={code}
        tries={tries}
        onChange={(text) => {
          setCode(text)
          if (text.length === sentAt && text !== code) void send(text)
        }}
      />
      <SubmitButton busy={busy}>Verify Code</SubmitButton>
      {after}
    </form>
  )
}
