import type { InputHTMLAttributes, ReactNode } from 'react'
import { useEffect, useEffectEvent, useId, useRef, useSyncExternalStore } from 'react'

type FieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'id'> & {
  label: string
  /** What to enter. Part of the field's accessible description. */
  rule?: string
  /** A validation error. Part of the description, too. */
  problem?: string
  broken?: boolean
  /** Focuses the field on mount, and each time `focusKey` changes. */
  focused?: boolean
  focusKey?: unknown
  onChange: (text: string) => void
  /** Rendered inside the field, for example a button. */
  children?: ReactNode
}

const nothing = () => {}

/**
 * A labelled input with Bootstrap's classes. The component of react-bootstrap would add 3 kB (gzip) to the login page.
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
  // Whether the markup comes from the page's file: public/early.js has then focused its first field, and the user may
  // have typed already.
  const isFromFile = useSyncExternalStore(
    () => nothing,
    () => false,
    () => true,
  )
  const begin = useEffectEvent(() => {
    const input = field.current!
    if (isFromFile) {
      onChange(input.value)
      // React does not report this early input, and the action recorder listens for the event.
      input.dispatchEvent(new Event('input', { bubbles: true }))
    } else if (focused) input.focus()
  })
  useEffect(() => begin(), [focused, focusKey])

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
