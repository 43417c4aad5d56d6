import { setTimeout as delay } from 'node:timers/promises'
import type { ClientAuth, Configuration } from 'openid-client'
import type { Logger } from 'pino'
import type { OpenIdSettings } from '../../openIdSettings'
import { isWebAddress } from '../../settingFormats'
import { boundedFetch } from './boundedFetch'
import { claimAt, type Claims } from './claims'
import { OpenIdProblem } from './problem'

/** Timeout of each request to the provider. */
const REQUEST_MS = 5000
/** How long a successful check is reused. */
const SUCCESS_TTL_MS = 60_000
/** How long a failed check is reused, and any check after a sign-in that was refused. */
const FAILURE_TTL_MS = 5000
/** How long `isAvailable` waits. */
const MAX_STATUS_WAIT_MS = 2000

/** OpenID Connect Core §2. */
const MAX_SUBJECT_LENGTH = 255

/** The state of a sign-in until the provider has sent the browser back. */
export interface Checks {
  state: string
  nonce: string
  /** The PKCE code verifier (RFC 7636). */
  verifier: string
  redirectUri: string
}

export interface Provider {
  /** Whether the provider answers. Checks again if the last check is old; waits two seconds at most. */
  isAvailable(): Promise<boolean>
  /** New random values for a sign-in. */
  newChecks(): Promise<Omit<Checks, 'redirectUri'>>
  /** The provider's page for a sign-in. @throws OpenIdProblem unavailable */
  pageFor(checks: Checks): Promise<string>
  /**
   * Redeems the code that the provider sent the browser back with, and verifies its ID token.
   * @param query the query of the request to the redirect URI
   * @throws OpenIdProblem cancelled, refused, unavailable
   */
  claimsOf(query: string, checks: Checks): Promise<Claims>
}

/** Reads the provider's metadata in the background, and again on use. Only this module loads the client library. */
export function createProvider(
  settings: OpenIdSettings,
  log: Pick<Logger, 'warn' | 'info'>,
  requestMs = REQUEST_MS,
): Provider {
  const { issuer, roleClaim } = settings
  let known: Configuration | undefined
  let checkedAt = -Infinity
  let maxAgeMs = FAILURE_TTL_MS
  let isAnswering: boolean | undefined
  let running: Promise<void> | undefined

  function check(): Promise<void> {
    running ??= discover(settings, requestMs)
      .then(
        (configuration) => {
          known = configuration
          if (isAnswering === false) log.info({ issuer }, 'the OpenID Connect provider answers again')
          isAnswering = true
          maxAgeMs = SUCCESS_TTL_MS
        },
        (error: unknown) => {
          if (isAnswering !== false)
            log.warn(
              { err: error, issuer },
              'the OpenID Connect provider does not answer as expected; trying again on use',
            )
          isAnswering = false
          maxAgeMs = FAILURE_TTL_MS
        },
      )
      .finally(() => {
        checkedAt = performance.now()
        running = undefined
      })
    return running
  }

  const isDue = () => performance.now() - checkedAt > maxAgeMs

  async function configuration(): Promise<Configuration> {
    if (running) await running
    else if (isDue()) await check()
    if (!known || !isAnswering) throw new OpenIdProblem('unavailable')
    return known
  }

  return {
    async isAvailable() {
      const checking = isDue() ? check() : running
      if (checking && !isAnswering) await Promise.race([checking, delay(MAX_STATUS_WAIT_MS, undefined, { ref: false })])
      return isAnswering ?? false
    },

    async newChecks() {
      const { randomState, randomNonce, randomPKCECodeVerifier } = await import('openid-client')
      return { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
    },

    async pageFor({ state, nonce, verifier, redirectUri }) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
      const config = await configuration()
      const offered = listed(config.serverMetadata().scopes_supported) ?? []
      try {
        const page = buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          // Some providers return groups only if this scope is requested, and others reject unknown scopes.
          scope: ['openid', 'profile', 'email', ...(offered.includes(roleClaim) ? [roleClaim] : [])].join(' '),
          state,
          nonce,
          code_challenge: await calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        })
        if (!isWebAddress(page.href)) throw new Error('the authorization endpoint is not an http or https URL')
        return page.href
      } catch (error) {
        // The metadata has no usable authorization endpoint.
        throw new OpenIdProblem('unavailable', textOf(error))
      }
    },

    async claimsOf(query, checks) {
      const config = known ?? (await configuration())
      return redeem(config, query, checks, roleClaim).catch((error: unknown) => {
        const problem = problemOf(error)
        // The provider may have new keys. Those that were read belong to the metadata, and are read again with it.
        if (problem.reason === 'refused') maxAgeMs = FAILURE_TTL_MS
        throw problem
      })
    },
  }
}

/** A list of the metadata, which the library does not check. Some providers send null for an empty one. */
const listed = (value: unknown): unknown[] | undefined => (Array.isArray(value) ? value : undefined)

/** Reads the provider's metadata. */
async function discover({ issuer, clientId, clientSecret }: OpenIdSettings, requestMs: number): Promise<Configuration> {
  const client = await import('openid-client')
  /** The specification's default is the header (OpenID Connect Core §9). */
  const authenticate: ClientAuth = (server, ...rest) => {
    const methods = listed(server.token_endpoint_auth_methods_supported)
    const isByBody = methods !== undefined && !methods.includes('client_secret_basic')
    const method = isByBody ? client.ClientSecretPost : client.ClientSecretBasic
    return method(clientSecret)(server, ...rest)
  }
  return client.discovery(new URL(issuer), clientId, {}, authenticate, {
    [client.customFetch]: (url, options) => boundedFetch(url, options),
    timeout: requestMs / 1000,
    execute: [
      // By default the library relies on TLS and does not verify signatures.
      client.enableNonRepudiationChecks,
      ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
    ],
  })
}

/** Redeems a code for claims. Those of the ID token are completed by the user info, if there is an endpoint for it. */
async function redeem(
  config: Configuration,
  query: string,
  { state, nonce, verifier, redirectUri }: Checks,
  roleClaim: string,
): Promise<Claims> {
  const client = await import('openid-client')
  const url = new URL(redirectUri)
  url.search = query
  const tokens = await client.authorizationCodeGrant(config, url, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (!claims) throw new OpenIdProblem('refused', 'there is no ID token')
  if (!isSubject(claims.sub)) throw new OpenIdProblem('refused', 'the subject of the ID token is not valid')
  const isComplete = claimAt(claims, roleClaim) !== undefined && claims.preferred_username !== undefined
  if (isComplete || config.serverMetadata().userinfo_endpoint === undefined) return claims
  // The claims of the ID token take precedence, because it is signed.
  return { ...(await client.fetchUserInfo(config, tokens.access_token, claims.sub)), ...claims }
}

/**
 * Whether a subject can identify one user (OpenID Connect Core §2). A provider that takes it from an empty field sends
 * the same for all who have none.
 */
function isSubject(sub: string): boolean {
  return sub.trim() !== '' && sub.length <= MAX_SUBJECT_LENGTH && sub.isWellFormed() && !/\p{Cc}/u.test(sub)
}

/** Describes an error, with the provider's own description if there is one. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { error: code, error_description: description } = error as { error?: unknown; error_description?: unknown }
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  const words = [code, description].filter((word) => typeof word === 'string').join(', ')
  return `${error.message}${cause}${words && ` (${words})`}`.slice(0, 1000)
}

function problemOf(error: unknown): OpenIdProblem {
  if (error instanceof OpenIdProblem) return error
  const { name, cause, error: code } = error as { name?: unknown; cause?: unknown; error?: unknown }
  // The library wraps what `boundedFetch` throws as a cause.
  if (cause instanceof OpenIdProblem) return cause
  const isCancelled = name === 'AuthorizationResponseError' && code === 'access_denied'
  return new OpenIdProblem(isCancelled ? 'cancelled' : 'refused', textOf(error))
}
