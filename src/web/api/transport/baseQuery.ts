import type { BaseQueryFn } from '@reduxjs/toolkit/query'
import { ROLE_HEADER } from '../../../contract/rules'
import { basePath } from '../../basePath'
import { parseResponse } from './parseResponse'
import { callWithSession } from './callWithSession'
import type { ApiFailure } from '../../failure'

/**
 * `url` is relative to `/api/`. The body is sent as JSON. `ifNoneMatch` is the ETag of the known version. A `timeoutMs`
 * of null means no timeout. `responseType: 'file'` returns the body as a Blob; the `queryFn` has to consume it, because
 * the store must not hold it.
 */
type Call =
  | string
  | {
      url: string
      method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
      body?: unknown
      timeoutMs?: number | null
      responseType?: 'json' | 'file'
      ifNoneMatch?: string | undefined
    }
/** `date` and `etag` are the headers of the response. `isUnchanged` is set for a 304 to `ifNoneMatch`. */
export type Meta = { date: string | null; etag: string | null; isUnchanged?: true }

declare global {
  interface Window {
    /** Requests that the page's file has sent (public/firstResponses.js), by method and URL. Each can be taken once. */
    firstResponses?: Partial<Record<string, (token: string | undefined) => Promise<Response> | undefined>>
  }
}

type BaseQuery = BaseQueryFn<Call, unknown, ApiFailure, object, Meta>
type Result = { data: unknown; error?: undefined; meta: Meta } | { error: ApiFailure; data?: undefined; meta?: Meta }

/** Without a timeout, one lost response would end polling, which waits for each response before the next request. */
const TIMEOUT_MS = 30_000

/**
 * Adds the bearer token and normalises every failure to ApiFailure. Calls `fetch` itself: `fetchBaseQuery` would exceed
 * the login page's size limit by 1.3 kB.
 */
export const baseQuery: BaseQuery = (call, api) =>
  callWithSession<Result>(api, (token, onRole) => send(call, token, api.signal, onRole))

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
    responseType = 'json',
    ifNoneMatch = undefined,
  } = typeof call === 'string' ? { url: call } : call
  try {
    const response = await (window.firstResponses?.[method + url]?.(token) ??
      fetch(new URL(`${basePath()}/api/${url}`, window.location.origin), {
        method,
        headers: {
          accept: responseType === 'file' ? '*/*' : 'application/json',
          ...(token && { authorization: `Bearer ${token}` }),
          ...(ifNoneMatch && { 'if-none-match': ifNoneMatch }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: JSON.stringify(body),
        signal: timeoutMs === null ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      }))
    onRole(response.headers.get(ROLE_HEADER))
    const meta = { date: response.headers.get('date'), etag: response.headers.get('etag') }
    if (ifNoneMatch && response.status === 304) return { data: undefined, meta: { ...meta, isUnchanged: true } }
    if (responseType === 'file' && response.ok) return { data: await response.blob(), meta }
    const result = parseResponse(response.status, await response.text())
    return { ...result, meta }
  } catch {
    return { error: { status: 'UNREACHABLE' } }
  }
}
