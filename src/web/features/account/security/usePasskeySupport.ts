import { useGetSignInMethodsQuery } from '../../../api/signIn/signInMethods'

/** Whether passkeys can be used here. They need a browser with WebAuthn, and HTTPS with a domain name. */
export function usePasskeySupport(): 'works' | 'no browser' | 'no address' | undefined {
  const { data } = useGetSignInMethodsQuery()
  if (typeof window.PublicKeyCredential !== 'function')
    return window.isSecureContext === false ? 'no address' : 'no browser'
  if (!data) return undefined
  return data.passkeys ? 'works' : 'no address'
}
