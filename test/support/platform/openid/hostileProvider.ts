import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWTPayload } from 'jose'
import { CLIENT, stop } from './identityProvider'

/** What a provider does. Each may be replaced during a test. */
interface Behaviour {
  /** Changes the claims of the next ID tokens. */
  claims: JWTPayload
  /** Changes the metadata. */
  metadata?: object
  /** How ID tokens are signed. */
  signature: 'right' | 'other key' | 'none' | 'client secret'
  /** Replaces the response of all paths, or of `answersAt`. */
  answer?: ((response: ServerResponse) => void) | undefined
  answersAt?: '/jwks' | '/userinfo' | undefined
}

export interface HostileProvider {
  issuer: string
  behaviour: Behaviour
  /** The nonce of the next ID token. */
  nonce: string
  close(): Promise<void>
}

const json = (response: ServerResponse, body: object) =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))

/** Starts a provider that may break every rule. It has no pages: every code is right. */
export async function startHostileProvider(): Promise<HostileProvider> {
  const own = await generateKeyPair('RS256', { extractable: true })
  const other = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(own.publicKey)), alg: 'RS256', use: 'sig', kid: 'one' }

  const server = createServer((request, response) => {
    const { answer, answersAt } = hostile.behaviour
    if (answer && (answersAt ?? request.url) === request.url) return answer(response)
    const { issuer } = hostile
    if (request.url?.startsWith('/.well-known/'))
      return json(response, {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        userinfo_endpoint: `${issuer}/userinfo`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
        ...hostile.behaviour.metadata,
      })
    if (request.url === '/jwks') return json(response, { keys: [jwk] })
    if (request.url === '/userinfo') return json(response, { sub: 'mallory', preferred_username: 'mallory' })
    void idToken().then((id_token) =>
      json(response, { access_token: 'x', token_type: 'bearer', expires_in: 60, id_token }),
    )
  })

  async function idToken(): Promise<string> {
    const seconds = Math.floor(Date.now() / 1000)
    const { claims, signature } = hostile.behaviour
    const payload = {
      iss: hostile.issuer,
      aud: CLIENT.id,
      sub: 'mallory',
      nonce: hostile.nonce,
      iat: seconds,
      exp: seconds + 60,
      preferred_username: 'mallory',
      groups: ['admins'],
      ...claims,
    }
    if (signature === 'none') return new UnsecuredJWT(payload).encode()
    if (signature === 'client secret')
      return new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(CLIENT.secret))
    const key: CryptoKey = signature === 'right' ? own.privateKey : other.privateKey
    return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(key)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const hostile: HostileProvider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behaviour: { claims: {}, signature: 'right' },
    nonce: '',
    close: () => stop(server),
  }
  return hostile
}
