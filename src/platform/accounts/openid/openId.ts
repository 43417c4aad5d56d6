import type { Logger } from 'pino'
import { safeOrigin } from '../../../contract/signIn/safeOrigin'
import { AppError } from '../../errors'
import type { OpenIdSettings } from '../../openIdSettings'
import { findIdentityOf, deleteIdentityOf, insertOpenIdStep, takeOpenIdStep } from '../../state/accounts/openId'
import type { SessionUser } from '../../state/accounts/sessions'
import { hashToken, isToken, randomToken } from '../../state/secrets'
import { rateLimits, takeAttempt } from '../rateLimits'
import type { Client } from '../sessions'
import { createOpenIdAccounts, type OpenIdAccountParts, type OpenIdSession } from './accounts'
import { OpenIdProblem } from './problem'
import { createProvider } from './provider'

export const STEP_MINUTES = 10

/** A step that has begun: the provider's page, and the secret that only this browser keeps. */
export interface BegunStep {
  page: string
  browser: string
}

/** The result of a step: a session, or a connected account if `session` is undefined. */
export interface FinishedStep {
  session: OpenIdSession | undefined
  /** The path and query of the console to open. */
  origin: string
}

export interface OpenId {
  /** The provider's name. */
  name: string
  /** Whether the provider answers. Waits two seconds at most. */
  isAvailable(): Promise<boolean>
  /**
   * Begins a sign-in, or, with a user, the connection of their account.
   * @param from the redirect URI; the path and query to open afterwards, which may be anything; the secret that the
   *   browser has from an earlier step, which is kept for that step's sake
   * @throws OpenIdProblem
   */
  begin(
    from: { redirectUri: string; origin: unknown; browser: string | undefined },
    client: Client,
    user?: SessionUser,
  ): Promise<BegunStep>
  /**
   * Ends a step when the provider has sent the browser back: signs in, creates the account or connects it.
   * @param from the query of the request, and the secret of its browser
   * @throws OpenIdProblem
   */
  finish(from: { query: string; browser: string | undefined }, client: Client): Promise<FinishedStep>
  /** The connection of a user's account. `own`: a sign-in by the provider created it. */
  connection(userId: number): Promise<{ connected: boolean; own: boolean }>
  /** @throws AppError NOT_FOUND if it is not connected, CONFLICT if a sign-in by the provider created it */
  disconnect(userId: number): Promise<void>
}

/**
 * Connects to the provider in the background. If it does not answer, this is only logged.
 * @returns undefined if it is not configured
 */
export function openOpenId(
  settings: OpenIdSettings | undefined,
  parts: Omit<OpenIdAccountParts, 'settings'> & { log: Pick<Logger, 'warn' | 'info'>; now: () => number },
): OpenId | undefined {
  if (!settings) return undefined
  const provider = createProvider(settings, parts.log)
  void provider.isAvailable()
  const { db, now } = parts
  const accounts = createOpenIdAccounts({ ...parts, settings })

  return {
    name: settings.name,
    isAvailable: () => provider.isAvailable(),

    async begin({ redirectUri, origin, browser: earlier }, { network }, user) {
      await takeAttempt(db, rateLimits.openId, network)
      if (user && (await findIdentityOf(db, user.userId))) throw new OpenIdProblem('has-identity')
      const { state, nonce, verifier } = await provider.newChecks()
      const page = await provider.pageFor({ state, nonce, verifier, redirectUri })
      const browser = earlier !== undefined && isToken(earlier) ? earlier : randomToken()
      await insertOpenIdStep(db, {
        state_hash: hashToken(state),
        browser_hash: hashToken(browser),
        nonce,
        verifier,
        redirect_uri: redirectUri,
        origin: safeOrigin(origin),
        session_id: user?.sessionId ?? null,
        expires_at: new Date(now() + STEP_MINUTES * 60_000),
      })
      return { page, browser }
    },

    async finish({ query, browser }, client) {
      // Other sites can make browsers request this address, but without the cookie. Such requests use up no attempts.
      if (browser === undefined) throw new OpenIdProblem('expired')
      await takeAttempt(db, rateLimits.openIdEnd, client.network)
      const state = new URLSearchParams(query).get('state') ?? ''
      // The state can only be used up with the browser's secret.
      const step = await takeOpenIdStep(db, hashToken(state), hashToken(browser))
      if (!step || step.expires_at.getTime() <= now()) throw new OpenIdProblem('expired')
      const { nonce, verifier, redirect_uri: redirectUri, origin, session_id } = step
      try {
        const claims = await provider.claimsOf(query, { state, nonce, verifier, redirectUri })
        if (session_id === null) return { session: await accounts.signIn(claims, client), origin }
        await accounts.connect(claims, session_id, client)
        return { session: undefined, origin }
      } catch (error) {
        if (error instanceof OpenIdProblem) error.isConnection = session_id !== null
        throw error
      }
    },

    async connection(userId) {
      const identity = await findIdentityOf(db, userId)
      return { connected: identity !== undefined, own: identity?.made_account ?? false }
    },

    async disconnect(userId) {
      const identity = await findIdentityOf(db, userId)
      if (identity?.made_account)
        throw new AppError(
          'CONFLICT',
          `Your account was created by a sign-in with ${settings.name} and has no password, so it cannot be disconnected.`,
        )
      if (!identity || !(await deleteIdentityOf(db, userId)))
        throw new AppError('NOT_FOUND', `Your account is not connected to ${settings.name}.`)
    },
  }
}
