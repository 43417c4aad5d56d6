import { API_KEY_PREFIX } from '../../contract/pageRules'
import { AppError } from '../errors'
import type { ApiKeys, KeyLimit } from './apiKeys'
import { credentialOf, rightsText, type Caller, type Credential } from '../caller'
import { createPresentCallers } from './presentCallers'
import { waitText } from './rateLimits'
import { noSession, type Sessions } from './sessions'

/** Recognises who makes a call or opens a socket. */
export interface Callers {
  /**
   * The caller of a session's token or of an API key.
   * @param onLimit called with the limit of the key, also before a refusal
   * @throws AppError NO_SESSION; TOO_MANY_TRIES for a key that made too many calls
   */
  authenticate(token: string | undefined, onLimit?: (limit: KeyLimit) => void): Promise<Caller>
  /** The caller of a session's token if known without a query. Undefined means unknown, not invalid. */
  known(token: string): Caller | undefined
  /** The present caller, as `authenticate` returns it. Undefined if the session or key is not valid any more. */
  present(credential: Credential): Promise<Caller | undefined>
  /** The present callers of those credentials that are valid. */
  find(credentials: Credential[]): Promise<Map<Credential, Caller>>
  /**
   * Calls the listener soon after sessions or keys have ended or users' rights have changed. @returns a function that
   * unsubscribes
   */
  onChange(listener: () => void): () => void
  close(): void
}

export function createCallers(
  sessions: Pick<Sessions, 'verify' | 'verified' | 'find' | 'use' | 'onChange'>,
  keys: Pick<ApiKeys, 'count' | 'find'>,
): Callers {
  async function read(
    credentials: Credential[],
    ofSessions: (ids: string[]) => Promise<Caller[]>,
  ): Promise<Map<Credential, Caller>> {
    const idsOf = (kind: string) =>
      credentials.filter((one) => one.startsWith(kind)).map((one) => one.slice(kind.length + 1))
    const found = await Promise.all([ofSessions(idsOf('session')), keys.find(idsOf('key'))])
    return new Map(found.flat().map((caller) => [credentialOf(caller), caller]))
  }
  const present = createPresentCallers((credentials) => read(credentials, (ids) => sessions.use(ids)))
  // Subscribed before other listeners, so that what they cause already sees the change.
  const unwatch = sessions.onChange(() => present.forget())

  return {
    known(token) {
      const claims = sessions.verified(token)
      const caller = claims && present.known(credentialOf(claims))
      return caller?.userId === claims?.userId ? caller : undefined
    },
    async authenticate(token, onLimit) {
      if (!token?.startsWith(API_KEY_PREFIX)) {
        const claims = await sessions.verify(token)
        const caller = await present.find(credentialOf(claims))
        if (caller?.userId !== claims.userId) throw noSession()
        return caller
      }
      const counted = await keys.count(token)
      const caller = counted && (await present.find(`key ${counted.id}`))
      if (!caller) throw new AppError('NO_SESSION', 'This API key is not valid. It may have expired or been deleted.')
      const { limit } = counted
      onLimit?.(limit)
      if (limit.remaining < 0)
        throw new AppError('TOO_MANY_TRIES', `Too many calls with this API key. Wait ${waitText(limit.secondsLeft)}.`, {
          retryAfterSeconds: limit.secondsLeft,
        })
      return caller
    },
    present: (credential) => present.find(credential),
    find: (credentials) => read(credentials, (ids) => sessions.find(ids)),
    onChange: (listener) => sessions.onChange(listener),
    close() {
      unwatch()
      present.close()
    },
  }
}

/**
 * Whether a caller may still do exactly what they could do before. @param now undefined if the credential is not valid
 * any more
 */
export const hasSameRights = (before: Caller, now: Caller | undefined): boolean =>
  now !== undefined && rightsText(before) === rightsText(now)

/** @param authorization the header. @returns the token of `Bearer` (RFC 6750 §2.1) */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer ([\w.~+/-]+=*)$/i.exec(authorization ?? '')?.[1]
}
