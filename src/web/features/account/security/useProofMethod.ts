import { useState } from 'react'
import { useGetOwnMethodsQuery } from '../../../api/signIn/ownMethods'
import { usePasskeySupport } from './usePasskeySupport'

export interface ProofMethod {
  byPasskey: boolean
  /** Whether the user can choose between a passkey and a code. */
  isChoice: boolean
  onSwitch: () => void
}

/** How the user confirms a change, besides the password: by a code or, where that works, by a passkey. */
export function useProofMethod(): ProofMethod {
  const { data } = useGetOwnMethodsQuery()
  const hasPasskey = usePasskeySupport() === 'works' && (data?.passkeys.length ?? 0) > 0
  const hasCode = !data || data.authenticators.length > 0 || data.recoveryCodes > 0
  const [prefersPasskey, setPrefersPasskey] = useState(false)
  const byPasskey = hasPasskey && (prefersPasskey || !hasCode)
  return { byPasskey, isChoice: hasPasskey && hasCode, onSwitch: () => setPrefersPasskey(!byPasskey) }
}
