import type { ApiFailure } from './failure'
import { badAnswer } from './failure'

/** An answer's body as the contract has it, or the failure that it is; the same for every way a call may travel. */
export function readAnswer(status: number, text: string): { data: unknown } | { error: ApiFailure } {
  const answer = parse(text)
  // Some servers say no with a 200.
  if (status < 200 || status > 299 || (isObject(answer) && answer.success === false)) {
    return { error: { status, ...textsOf(answer) } }
  }
  return answer === undefined ? { error: badAnswer } : { data: answer }
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
