import styles from './security.module.scss'
import type { ProofMethod } from './useProofMethod'

/** Says that the browser will ask for a passkey, and switches between passkey and code. Placed after the code field. */
export function PasskeyChoice({ byPasskey, isChoice, onSwitch }: ProofMethod) {
  return (
    <>
      {byPasskey && <p className="form-text">Then your browser asks for a passkey.</p>}
      {isChoice && (
        <button type="button" className={`text-button ${styles.switch}`} onClick={onSwitch}>
          {byPasskey ? 'Use a code instead' : 'Use a passkey instead of a code'}
        </button>
      )}
    </>
  )
}
