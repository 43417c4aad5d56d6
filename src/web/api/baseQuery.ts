import type { BaseQueryFn } from '@reduxjs/toolkit/query'
import { ROLE_HEADER } from '../../contract/rules'
import { readAnswer } from './answer'
import { asUser } from './asUser'
import type { ApiFailure } from './failure'

/**
 * The path below `/api/`, and for anything but a plain GET what to do with it. The body travels as JSON.
 * `ifNoneMatch` is the version that is known already. `timeoutMs` is for calls whose work takes longer than any poll may wait; null waits as long as it takes.
 * `answer: 'file'` takes what comes as it is: the data is a Blob, which a `queryFn` has to bring to where it
 * belongs, for the store must not hold it.
 */
type Call =
  | string
  | {
      url: string
      method?: 'POST' | 'PATCH' | 'DELETE'
      body?: unknown
      timeoutMs?: number | null
      answer?: 'json' | 'file'
      ifNoneMatch?: string | undefined
    }
/** When the server answered, in its own words, and which version of the data it is; `isUnchanged` when that is the version of `ifNoneMatch`. */
export type Meta = { date: string | null; etag: string | null; isUnchanged?: true }
type BaseQuery = BaseQueryFn<Call, unknown, ApiFailure, object, Meta>
type Result = { data: unknown; error?: undefined; meta: Meta } | { error: ApiFailure; data?: undefined; meta?: Meta }

/** A poll waits for its last answer: without a limit one lost answer would end the polling. In milliseconds. */
const TIMEOUT_MS = 30_000

/** Adds the bearer token and gives every failure one form. */
export const baseQuery: BaseQuery = (call, api) =>
  asUser<Result>(api, (token, onRole) => send(call, token, api.signal, onRole))

async function send(
  call: Call,
  token: string | undefined,
  signal: AbortSignal,
  onRole: (role: string | null) => void,
): Promise<Result> {
  const {
    url,
    method = 'GET',
    body = undefined,
    timeoutMs = TIMEOUT_MS,
    answer = 'json',
    ifNoneMatch = undefined,
  } = typeof call === 'string' ? { url: call } : call
  try {
    const response = await fetch(new URL(`/api/${url}`, window.location.origin), {
      method,
      headers: {
        accept: answer === 'file' ? '*/*' : 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
        ...(ifNoneMatch && { 'if-none-match': ifNoneMatch }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: JSON.stringify(body),
      signal: timeoutMs === null ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    onRole(response.headers.get(ROLE_HEADER))
    const meta = { date: response.headers.get('date'), etag: response.headers.get('etag') }
    if (ifNoneMatch && response.status === 304) return { data: undefined, meta: { ...meta, isUnchanged: true } }
    if (answer === 'file' && response.ok) return { data: await response.blob(), meta }
    const result = readAnswer(response.status, await response.text())
    return { ...result, meta }
  } catch {
    return { error: { status: 'UNREACHABLE' } }
  }
}
