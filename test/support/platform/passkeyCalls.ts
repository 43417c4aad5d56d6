import { makePasskey } from './softAuthenticator'
import type { Account, TestPlatform } from './startPlatform'

export const ORIGIN = 'https://panel.example'
/** Headers of a browser at an address where passkeys work. */
export const PASSKEY_HEADERS = { host: 'panel.example', origin: ORIGIN }
export type PasskeyOptions = { challenge: string; allowCredentials?: { id: string }[] }

/** The calls of such a browser about passkeys and proofs of identity. */
export function passkeyCalls(platform: () => TestPlatform) {
  const post = (path: string, body: object, token?: string) =>
    platform().call('POST', path, { body, token, headers: PASSKEY_HEADERS })

  async function proofOf(account: Account): Promise<string> {
    const code = await platform().nextCode(account.secret)
    const { body } = await post('/api/account/proof', { password: account.password, code }, account.token)
    return String(body.data.proof)
  }
  async function addPasskey(account: Account, name = 'Laptop') {
    const proof = await proofOf(account)
    const { body } = await post('/api/account/passkeys/options', { proof }, account.token)
    const { passkey, response } = makePasskey(body.data.options as PasskeyOptions, ORIGIN)
    expect(await post('/api/account/passkeys', { name, response }, account.token)).toMatchObject({ status: 200 })
    return passkey
  }
  async function stepOf({ username, password }: Account) {
    const { body } = await post('/api/auth/login', { username, password })
    return { username, sessionToken: String(body.data.sessionToken) }
  }
  const optionsOf = async (step: object) =>
    (await post('/api/auth/passkey-options', step)).body.data.options as PasskeyOptions
  /** For a sign-in with a passkey alone, without a password. */
  const aloneOptions = async () =>
    (await post('/api/auth/passkey-login-options', {})).body.data.options as PasskeyOptions
  const alone = (response: object) => post('/api/auth/passkey-login', { response })
  const methodsOf = async ({ token }: Account) =>
    (await platform().call('GET', '/api/account/methods', { token })).body.data as {
      authenticators: { id: string; name: string }[]
      passkeys: { id: string; name: string; last_used_at?: string }[]
      recoveryCodes: number
    }

  return { post, proofOf, addPasskey, stepOf, optionsOf, aloneOptions, alone, methodsOf }
}
