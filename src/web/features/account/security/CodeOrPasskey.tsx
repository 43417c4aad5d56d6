import type { ComponentProps } from 'react'
import { Field } from '../../../ui/form/Field'
import styles from './security.module.scss'
import type { ProofMethod } from './useProofMethod'

type CodeOrPasskeyProps = { method: ProofMethod } & Omit<ComponentProps<typeof Field>, 'rule'>

/** The field for a code, or the notice that the browser will ask for a passkey, and the switch between the two. */
export function CodeOrPasskey({ method: { byPasskey, isChoice, onSwitch }, ...field }: CodeOrPasskeyProps) {
  return (
    <>
      {byPasskey ? (
        <p className="form-text">Then your browser asks for a passkey.</p>
      ) : (
        <Field
          {...field}
          rule="Six digits from your authenticator app, or a recovery code"
          autoComplete="one-time-code"
          autoCapitalize="none"
          spellCheck={false}
          required
        />
      )}
      {isChoice && (
        <button type="button" className={`text-button ${styles.switch}`} onClick={onSwitch}>
          {byPasskey ? 'Use a code instead' : 'Use a passkey instead of a code'}
        </button>
      )}
    </>
  )
}
