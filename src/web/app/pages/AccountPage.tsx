import { useMatch } from 'react-router-dom'
import { KeysPage } from '../../features/account/keys/KeysPage'
import { SecurityPage } from '../../features/account/security/SecurityPage'

/** The pages of two routes in one chunk, because every chunk enlarges the first one, which lists them all. */
export function AccountPage() {
  return useMatch('/security') ? <SecurityPage /> : <KeysPage />
}
