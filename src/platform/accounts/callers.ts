import { API_KEY_PREFIX } from '../../contract/pageRules'
import { AppError } from '../errors'
import type { ApiKeys, KeyLimit } from './apiKeys'
import { rightsText, type Caller } from '../caller'
import type { Sessions } from './sessions'

/** A session or an API key, without its secret: `session <id>` or `key <id>`. */
export type Credential = `session ${string}` | `key ${string}`

/** Recognises who makes a call or opens a socket. */
export interface Callers {
  /**
   * The caller of a session's token or of an API key.
   * @param onLimit called with the limit of the key, also before a refusal
   * @throws AppError NO_SESSION; TOO_MANY_TRIES for a key that made too many calls
   */
  authenticate(token: string | undefined, onLimit?: (limit: KeyLimit) => void): Promise<Caller>
  /** The present callers of these credentials, of those that are valid. */
  find(credentials: Credential[]): Promise<Map<Credential, Caller>>
  /** Calls the listener soon after sessions or keys have ended or users' rights have changed. @returns a function that unsubscribes */
  onChange(listener: () => void): () => void
}

export function createCallers(
  sessions: Pick<Sessions, 'authenticate' | 'find' | 'onChange'>,
  keys: Pick<ApiKeys, 'authenticate' | 'find'>,
): Callers {
  return {
    async authenticate(token, onLimit) {
      if (!token?.startsWith(API_KEY_PREFIX)) return sessions.authenticate(token)
      const { caller, limit } = await keys.authenticate(token)
      onLimit?.(limit)
      if (limit.remaining < 0)
        throw new AppError('TOO_MANY_TRIES', `Too many calls with this API key. Wait ${limit.secondsLeft} seconds.`, {
          retryAfterSeconds: limit.secondsLeft,
        })
      return caller
    },
    async find(credentials) {
      const idsOf = (kind: string) =>
        credentials.filter((one) => one.startsWith(kind)).map((one) => one.slice(kind.length + 1))
      const found = await Promise.all([sessions.find(idsOf('session')), keys.find(idsOf('key'))])
      return new Map(found.flat().map((caller) => [credentialOf(caller), caller]))
    },
    onChange: (listener) => sessions.onChange(listener),
  }
}

export function credentialOf({ sessionId, key }: { sessionId?: string; key?: { id: string } }): Credential {
  return key ? `key ${key.id}` : `session ${sessionId}`
}

/** Whether a caller may still do exactly what they could do before. @param now undefined if the credential is not valid any more */
export const hasSameRights = (before: Caller, now: Caller | undefined): boolean =>
  now !== undefined && rightsText(before) === rightsText(now)

/** @param authorization the header. @returns the token of `Bearer` (RFC 6750 §2.1) */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer ([\w.~+/-]+=*)$/i.exec(authorization ?? '')?.[1]
}
