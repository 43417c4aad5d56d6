import type { BaseQueryFn, FetchArgs, FetchBaseQueryError, FetchBaseQueryMeta } from '@reduxjs/toolkit/query'
import { fetchBaseQuery } from '@reduxjs/toolkit/query'
import type { RootState, Services } from '../app/types'
import { sessionEnded } from '../facts'
import { bearerToken } from './credentials'
import type { ApiFailure } from './failure'

export type BaseQuery = BaseQueryFn<string | FetchArgs, unknown, ApiFailure, object, FetchBaseQueryMeta>

/** A poll waits for its last answer: without a limit one lost answer would end the polling. In milliseconds. */
const TIMEOUT_MS = 30_000

const send = fetchBaseQuery({
  baseUrl: new URL('/api', window.location.origin).href,
  timeout: TIMEOUT_MS,
  prepareHeaders(headers, { extra }) {
    const token = bearerToken(extra as Services)
    if (token) headers.set('authorization', `Bearer ${token}`)
  },
})

/** Adds the bearer token, gives every failure one form, and is the only place that ends a session on 401. */
export const baseQuery: BaseQuery = async (args, api, options) => {
  const services = api.extra as Services
  const signedIn = () => (api.getState() as RootState).session.current !== null
  const token = bearerToken(services)
  if (!token && signedIn()) {
    api.dispatch(sessionEnded('gone'))
    return { error: { status: 401 } }
  }

  const { data, error, meta } = await send(args, api, options)
  const failure = error ? failureOf(error) : refusalOf(data)
  // An answer to a token that was replaced meanwhile says nothing about the new session.
  if (failure?.status === 401 && signedIn() && token === bearerToken(services)) api.dispatch(sessionEnded('refused'))
  return failure ? { error: failure, meta } : { data, meta }
}

function failureOf(error: FetchBaseQueryError): ApiFailure {
  if (typeof error.status === 'number') return { status: error.status, ...textsOf(error.data) }
  if (error.status !== 'PARSING_ERROR') return { status: 'UNREACHABLE' }
  return { status: error.originalStatus >= 400 ? error.originalStatus : 'BAD_ANSWER' }
}

/** Some servers say no with a 200. */
function refusalOf(data: unknown): ApiFailure | undefined {
  const refused = typeof data === 'object' && data !== null && 'success' in data && data.success === false
  return refused ? { status: 200, ...textsOf(data) } : undefined
}

function textsOf(body: unknown): Pick<ApiFailure, 'code' | 'message'> {
  if (typeof body !== 'object' || body === null) return {}
  const { code, message, error } = body as Record<string, unknown>
  const text = [message, error].find((candidate) => typeof candidate === 'string' && candidate !== '')
  return {
    ...(typeof code === 'string' && { code }),
    ...(typeof text === 'string' && { message: text }),
  }
}
