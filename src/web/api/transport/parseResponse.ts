import type { ApiFailure } from '../../failure'
import { badResponse } from '../../failure'

/** Browsers need minutes to lay out 100,000 letters of a script such as Thai. */
const MESSAGE_MAX_LENGTH = 4000

/** Reads a response's body, or the failure that it reports. Used by fetch and by the upload's XMLHttpRequest. */
export function parseResponse(status: number, text: string): { data: unknown } | { error: ApiFailure } {
  const body = parse(text)
  // Some servers report failures with status 200.
  if (status < 200 || status > 299 || (isObject(body) && body.success === false)) {
    return { error: { status, ...textsOf(body) } }
  }
  return body === undefined ? { error: badResponse } : { data: body }
}

/** Returns undefined if the text is not JSON, for example an HTML page of a proxy. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function textsOf(body: unknown): Omit<ApiFailure, 'status'> {
  if (!isObject(body)) return {}
  const { code, message, error, field, line } = body
  const text = [message, error].find((candidate) => typeof candidate === 'string' && candidate !== '')
  return {
    ...(typeof code === 'string' && { code }),
    ...(typeof text === 'string' && { message: text.slice(0, MESSAGE_MAX_LENGTH) }),
    ...(typeof field === 'string' && { field }),
    ...(typeof line === 'number' && { line }),
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
