import { randomInt, randomUUID } from 'node:crypto'
import type { ApiKey, CreateApiKey } from '../../contract/access'
import { API_KEY_PREFIX } from '../../contract/pageRules'
import { AppError } from '../errors'
import {
  countKeyCall,
  deleteApiKey,
  findApiKeys,
  insertApiKey,
  listApiKeys,
  WINDOW_SECONDS,
  type ApiKeyRow,
  type KeyCalls,
} from '../state/accounts/apiKeys'
import { lockSession, type SessionUser } from '../state/accounts/sessions'
import { lockUser } from '../state/accounts/users'
import { isMissingReference, type Db } from '../state/db'
import { hashToken } from '../state/secrets'
import { isRestricted, knows, type Caller } from '../caller'
import { noSession } from './sessions'

/** Characters of a key after its prefix: 238 random bits. */
const SECRET_LENGTH = 40
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** Characters after the prefix that identify a key in a list. */
const SHOWN_LENGTH = 4
const MAX_KEYS_PER_USER = 100
/** Calls of one key in a window of WINDOW_SECONDS. */
export const CALLS_PER_WINDOW = 600
/** The policy of the RateLimit-Policy header (draft-ietf-httpapi-ratelimit-headers-10 §3). */
export const RATE_LIMIT_POLICY = `"key";q=${CALLS_PER_WINDOW};w=${WINDOW_SECONDS}`

/** The state of a key's limit after a call, for the RateLimit header. */
export interface KeyLimit {
  remaining: number
  /** Whole seconds until the window ends. */
  secondsLeft: number
}

export interface ApiKeys {
  /** Newest first, with expired ones. */
  list(userId: number): Promise<ApiKey[]>
  /**
   * @returns the key, which is not stored and cannot be read again
   * @throws AppError INVALID_INPUT for a deployment that does not exist or that the user must not know of, for the
   * scope `admin` if the user is no administrator, or for an expiry in the past; CONFLICT for too many keys; NO_SESSION
   * if the session has ended
   */
  create(by: SessionUser, wanted: CreateApiKey): Promise<{ key: string; info: ApiKey }>
  /** @returns the key's name. @throws AppError NOT_FOUND if the user has no such key */
  remove(userId: number, id: string): Promise<string>
  /**
   * Counts a call of a key. @returns the key, and the state of its limit: a negative `remaining` means that the call
   * must be refused. Undefined if the key is not valid
   */
  count(key: string): Promise<{ id: string; limit: KeyLimit } | undefined>
  /** The callers of those keys that are valid. */
  find(ids: string[]): Promise<Caller[]>
}

/** @param onRemoved called and awaited after a deletion; must not throw. @param now milliseconds since the epoch */
export function createApiKeys(db: Db, now: () => number, onRemoved: () => Promise<void>): ApiKeys {
  return {
    list: async (userId) => (await listApiKeys(db, userId)).map(toApiKey),

    async create(by, { name, scopes, deployments, expires_at }) {
      checkScopes(by, scopes)
      checkDeployments(by, deployments)
      const expiresAt = expires_at === undefined ? null : new Date(expires_at)
      if (expiresAt && expiresAt.getTime() <= now())
        throw new AppError('INVALID_INPUT', 'expires_at: must be in the future', { field: 'expires_at' })
      const text = Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
      const key = API_KEY_PREFIX + text
      const id = randomUUID()
      const rows = await db
        .transaction()
        .execute(async (transaction) => {
          // One at a time, so that each counts the others.
          await lockUser(transaction, by.userId)
          if (!(await lockSession(transaction, by))) throw noSession()
          await insertApiKey(
            transaction,
            {
              id,
              user_id: by.userId,
              name,
              prefix: key.slice(0, API_KEY_PREFIX.length + SHOWN_LENGTH),
              key_hash: hashToken(key),
              scopes: [...new Set(scopes)],
              all_deployments: deployments === undefined,
              expires_at: expiresAt,
              last_used_at: null,
            },
            [...new Set(deployments)],
          )
          const all = await listApiKeys(transaction, by.userId)
          if (all.length > MAX_KEYS_PER_USER) throw tooManyKeys()
          return all
        })
        .catch((error: unknown) => {
          throw isMissingReference(error) ? unknownDeployment() : error
        })
      const info = rows.find((row) => row.id === id)
      if (!info) throw new Error('The API key is missing right after its creation')
      return { key, info: toApiKey(info) }
    },

    async remove(userId, id) {
      const name = await deleteApiKey(db, userId, id)
      if (name === undefined) throw new AppError('NOT_FOUND', 'This API key does not exist. It may have been deleted.')
      await onRemoved()
      return name
    },

    async count(key) {
      const counted = await countKeyCall(db, hashToken(key))
      return counted && { id: counted.id, limit: limitOf(counted) }
    },

    find: (ids) => findApiKeys(db, ids),
  }
}

const limitOf = ({ calls, secondsLeft }: KeyCalls): KeyLimit => ({ remaining: CALLS_PER_WINDOW - calls, secondsLeft })

function checkScopes({ isAdmin, role }: Caller, scopes: readonly string[]): void {
  const forbidden = [...(isAdmin ? [] : ['admin']), ...(role === 'limited' ? ['databases'] : [])]
  const refused = forbidden.find((scope) => scopes.includes(scope))
  if (refused !== undefined)
    throw new AppError('INVALID_INPUT', `scopes: a key cannot have "${refused}", because your role does not allow it`, {
      field: 'scopes',
    })
}

function checkDeployments(by: Caller, deployments: readonly string[] | undefined): void {
  if (isRestricted(by) && deployments?.some((deployment) => !knows(by, deployment))) throw unknownDeployment()
}

const tooManyKeys = () =>
  new AppError('CONFLICT', `You have ${MAX_KEYS_PER_USER} API keys already. Delete those that you do not use.`)
const unknownDeployment = () =>
  new AppError('INVALID_INPUT', 'deployments: one of them does not exist', { field: 'deployments' })

function toApiKey({ id, name, prefix, scopes, created_at, expires_at, last_used_at, ...row }: ApiKeyRow): ApiKey {
  return {
    id,
    name,
    prefix,
    scopes,
    ...(!row.all_deployments && { deployments: row.deployments }),
    created_at: created_at.toISOString(),
    ...(expires_at && { expires_at: expires_at.toISOString() }),
    ...(last_used_at && { last_used_at: last_used_at.toISOString() }),
  }
}
