import { CODE_LENGTH } from '../../../contract/rules'
import { Field } from '../../ui/form/Field'

type CodeFieldProps = { code: string; tries: number; onChange: (code: string) => void }

/** Keeps the digits only, so that a pasted "123 456" works. */
export function CodeField({ code, tries, onChange }: CodeFieldProps) {
  return (
    <Field
      label="Verification code"
      className="code-field"
      inputMode="numeric"
      autoComplete="one-time-code"
      pattern={`[0-9]{${CODE_LENGTH}}`}
      title={`${CODE_LENGTH} digits`}
      required
      focused
      focusKey={tries}
      value={code}
      onChange={(text) => onChange(text.replace(/\D/g, '').slice(0, CODE_LENGTH))}
    />
  )
}
