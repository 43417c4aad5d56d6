import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser'
import type { PasskeyAssertion, PasskeyCreation, PasskeyOptions } from '../../../contract/signIn/signInMethods'
import type { ApiFailure } from '../../failure'

type Prompted<Response> = { data: Response; error?: undefined } | { error: ApiFailure; data?: undefined }

/** Lets the browser ask the user for a passkey. Never throws. */
export const promptPasskey = (options: PasskeyOptions): Promise<Prompted<PasskeyAssertion>> =>
  prompted(async () => {
    const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON
    return (await startAuthentication({ optionsJSON })) as unknown as PasskeyAssertion
  })

/** Lets the browser ask the user to create a passkey. Never throws. */
export const makePasskey = (options: PasskeyOptions): Promise<Prompted<PasskeyCreation>> =>
  prompted(async () => {
    const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON
    return (await startRegistration({ optionsJSON })) as unknown as PasskeyCreation
  })

/**
 * `message` says why the browser has no passkey to send. The browser does not distinguish a cancelled prompt from a
 * timeout.
 */
async function prompted<Response>(prompt: () => Promise<Response>): Promise<Prompted<Response>> {
  if (!browserSupportsWebAuthn()) return { error: refusal('NOT_SUPPORTED', 'This browser does not support passkeys.') }
  try {
    return { data: await prompt() }
  } catch (error) {
    const { name } = error as { name: string }
    if (name === 'NotAllowedError' || name === 'AbortError')
      return { error: refusal('CANCELLED', 'No passkey was used: the request was cancelled, or it took too long.') }
    if (name === 'InvalidStateError')
      return { error: refusal('CONFLICT', 'This device has a passkey for your account already.') }
    if (name === 'SecurityError')
      return { error: refusal('CONFLICT', 'The browser allows no passkeys at this address.') }
    return { error: refusal('FAILED', 'The browser or the device could not use a passkey. Please try again.') }
  }
}

const refusal = (code: string, message: string): ApiFailure => ({ status: 400, code, message })
