import type { InputHTMLAttributes, ReactNode } from 'react'
import { useEffect, useId, useRef } from 'react'

type FieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'id'> & {
  label: string
  /** What is asked for; part of the field's description. */
  rule?: string
  /** What is wrong with the text; part of it too. */
  problem?: string
  broken?: boolean
  /** Takes the focus when it appears, and again each time `focusKey` changes. */
  focused?: boolean
  focusKey?: unknown
  onChange: (text: string) => void
  /** Something inside the field, such as a button. */
  children?: ReactNode
}

/**
 * A labelled text field in Bootstrap's classes. react-bootstrap's own would cost the login page 3 kB (gzip),
 * so the pages before signing in do without it.
 */
export function Field({
  label,
  rule,
  problem,
  broken = false,
  focused,
  focusKey,
  onChange,
  children,
  className = '',
  ...input
}: FieldProps) {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (focused) field.current?.focus()
  }, [focused, focusKey])

  return (
    <div>
      <label className="form-label" htmlFor={id}>
        {label}
      </label>
      <div className="field">
        <input
          {...input}
          id={id}
          ref={field}
          className={`form-control ${broken ? 'is-invalid' : ''} ${className}`}
          aria-invalid={broken}
          aria-describedby={[problem && `${id}-problem`, rule && `${id}-rule`].filter(Boolean).join(' ') || undefined}
          onChange={(event) => onChange(event.target.value)}
        />
        {children}
      </div>
      {problem && (
        <p id={`${id}-problem`} className="form-text broken">
          {problem}
        </p>
      )}
      {rule && (
        <p id={`${id}-rule`} className={broken && !problem ? 'form-text broken' : 'form-text'}>
          {rule}
        </p>
      )}
    </div>
  )
}
