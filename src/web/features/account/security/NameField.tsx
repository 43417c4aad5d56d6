import { METHOD_NAME_MAX_LENGTH } from '../../../../contract/pageRules'
import { Field } from '../../../ui/form/Field'

type NameFieldProps = { rule: string; name: string; tries: number; onChange: (name: string) => void }

/** The name of a passkey or an authenticator app. Reports a missing name after a submission. */
export function NameField({ rule, name, tries, onChange }: NameFieldProps) {
  const isMissing = tries > 0 && name.trim() === ''
  return (
    <Field
      label="Name"
      rule={isMissing ? 'Please give it a name' : rule}
      broken={isMissing}
      focused={tries === 0 || isMissing}
      focusKey={tries}
      autoComplete="off"
      maxLength={METHOD_NAME_MAX_LENGTH}
      required
      value={name}
      onChange={onChange}
    />
  )
}
