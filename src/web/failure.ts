/** The error of every failed call. */
export type ApiFailure = {
  /** The HTTP status; UNREACHABLE if no response arrived, BAD_RESPONSE if the response violates the contract. */
  status: number | 'UNREACHABLE' | 'BAD_RESPONSE'
  /** The server's error code, for example NAME_TAKEN. */
  code?: string
  message?: string
  /** Path of the invalid input, for example `run.port`. */
  field?: string
  /** One-based line in the text that was sent. */
  line?: number
  /** For a call for several entries: those that failed, and why. */
  failed?: { path: string; message?: string }[]
}

export const badResponse: ApiFailure = { status: 'BAD_RESPONSE' }

const isFailure = (error: unknown): error is ApiFailure =>
  typeof error === 'object' && error !== null && 'status' in error

/** Returns the server's text, or `fallback` if there is none. */
export const failureText = (error: unknown, fallback: string) => (isFailure(error) && error.message) || fallback

/** Returns an addition to the product's text, or undefined. */
export const failureHint = (error: unknown) =>
  isFailure(error) && error.status === 'UNREACHABLE' ? 'The server could not be reached.' : undefined

/** Returns the reason in the server's words, or our own. Empty if neither is known. */
export const failureDetail = (error: unknown) => failureText(error, failureHint(error) ?? '')

/** Whether the server refused: it answered 2xx with `success: false` or without the expected data. */
export const isRefusal = (error: unknown) =>
  isFailure(error) && (error.status === 'BAD_RESPONSE' || Number(error.status) < 300)

/** Whether the server lacks this call, which only our platform offers. */
export const isNotOffered = (error: unknown) => isFailure(error) && error.status === 404

/** Whether the service is not configured or not reachable; the server says what to set or start (decisions §1). */
export const isUnavailable = (error: unknown) => isFailure(error) && error.status === 503

/** Whether the server has no such service configured, which is not an error. Only our platform sends this code. */
export const isNotConfigured = (error: unknown) => isFailure(error) && error.code === 'NOT_CONFIGURED'

/** Whether a user cancelled the job. */
export const isCancelled = (error: unknown) => isFailure(error) && error.code === 'CANCELLED'
