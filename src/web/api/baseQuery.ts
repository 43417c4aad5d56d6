import type { BaseQueryFn } from '@reduxjs/toolkit/query'
import type { RootState, Services } from '../app/types'
import { sessionEnded } from '../facts'
import { bearerToken } from './credentials'
import type { ApiFailure } from './failure'
import { badAnswer } from './failure'

/**
 * The path below `/api/`, and for anything but a plain GET what to do with it. The body travels as JSON.
 * `timeoutMs` is for calls whose work takes longer than any poll may wait.
 */
type Call = string | { url: string; method: 'POST' | 'PATCH' | 'DELETE'; body?: unknown; timeoutMs?: number }
/** When the server answered, in its own words. */
export type Meta = { date: string | null }
type BaseQuery = BaseQueryFn<Call, unknown, ApiFailure, object, Meta>

/** A poll waits for its last answer: without a limit one lost answer would end the polling. In milliseconds. */
const TIMEOUT_MS = 30_000

/** Adds the bearer token, gives every failure one form, and is the only place that ends a session on 401. */
export const baseQuery: BaseQuery = async (call, { dispatch, extra, getState, signal }) => {
  const services = extra as Services
  const signedIn = () => (getState() as RootState).session.current !== null
  const token = bearerToken(services)
  if (!token && signedIn()) {
    dispatch(sessionEnded('gone'))
    return { error: { status: 401 } }
  }

  const result = await send(call, token, signal)
  // An answer to a token that was replaced meanwhile says nothing about the new session.
  if (result.error?.status === 401 && signedIn() && token === bearerToken(services)) dispatch(sessionEnded('refused'))
  return result
}

async function send(
  call: Call,
  token: string | undefined,
  signal: AbortSignal,
): Promise<{ data: unknown; error?: undefined; meta: Meta } | { error: ApiFailure }> {
  const { url, method = 'GET', body = undefined, timeoutMs = TIMEOUT_MS } = typeof call === 'string' ? { url: call } : call
  let response: Response
  let text: string
  try {
    response = await fetch(new URL(`/api/${url}`, window.location.origin), {
      method,
      headers: {
        accept: 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    text = await response.text()
  } catch {
    return { error: { status: 'UNREACHABLE' } }
  }

  const answer = parse(text)
  // Some servers say no with a 200.
  if (!response.ok || (isObject(answer) && answer.success === false)) {
    return { error: { status: response.status, ...textsOf(answer) } }
  }
  return answer === undefined ? { error: badAnswer } : { data: answer, meta: { date: response.headers.get('date') } }
}

/** Undefined for what is not JSON: a proxy may answer in place of the server, and in HTML. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function textsOf(answer: unknown): Omit<ApiFailure, 'status'> {
  if (!isObject(answer)) return {}
  const { code, message, error, field, line } = answer
  const text = [message, error].find((candidate) => typeof candidate === 'string' && candidate !== '')
  return {
    ...(typeof code === 'string' && { code }),
    ...(typeof text === 'string' && { message: text }),
    ...(typeof field === 'string' && { field }),
    ...(typeof line === 'number' && { line }),
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
