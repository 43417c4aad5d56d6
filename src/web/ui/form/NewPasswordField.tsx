import type { ComponentProps } from 'react'
import { useState } from 'react'
import { Field } from './Field'
import { Icon } from '../Icon'

type NewPasswordFieldProps = Omit<ComponentProps<typeof Field>, 'type' | 'autoComplete' | 'required' | 'children'>

/** The password is typed only once, so it can be revealed. */
export function NewPasswordField(field: NewPasswordFieldProps) {
  const [revealed, setRevealed] = useState(false)
  return (
    <Field {...field} type={revealed ? 'text' : 'password'} autoComplete="new-password" required>
      <button
        type="button"
        className="field-button"
        aria-label="Show password"
        aria-pressed={revealed}
        onClick={() => setRevealed(!revealed)}
      >
        <Icon name="eye" />
      </button>
    </Field>
  )
}
