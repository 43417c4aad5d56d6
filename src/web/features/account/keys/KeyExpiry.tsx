import { useId } from 'react'
import { Field } from '../../../ui/form/Field'
import { EXPIRIES } from './keyForm'
import type { Expiry, KeyCreation } from './keysSlice'
import styles from './keys.module.scss'

type KeyExpiryProps = {
  creation: KeyCreation
  problem: string | undefined
  onChange: (change: Partial<Pick<KeyCreation, 'expiry' | 'date'>>) => void
}

export function KeyExpiry({ creation: { expiry, date }, problem, onChange }: KeyExpiryProps) {
  const id = useId()
  return (
    <div className={styles.expiry}>
      <div>
        <label className="form-label" htmlFor={id}>
          Expiry
        </label>
        <select
          id={id}
          className="form-select"
          value={expiry}
          onChange={({ target }) => onChange({ expiry: target.value as Expiry })}
        >
          {EXPIRIES.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      {expiry === 'date' && (
        <Field
          label="Last day"
          type="date"
          {...(problem !== undefined && { problem })}
          broken={problem !== undefined}
          required
          value={date}
          onChange={(text) => onChange({ date: text })}
        />
      )}
      {expiry !== 'date' && problem && <p className="form-text broken">{problem}</p>}
    </div>
  )
}
