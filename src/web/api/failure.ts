/** Every failed call, whatever went wrong. */
export type ApiFailure = {
  /** The HTTP status; UNREACHABLE when no answer came, BAD_ANSWER when it was not what the contract says. */
  status: number | 'UNREACHABLE' | 'BAD_ANSWER'
  /** The server's code, such as NAME_TAKEN. */
  code?: string
  /** The server's own text, if it sent one. */
  message?: string
  /** What of the input is wrong, as a path such as `run.port`. */
  field?: string
  /** Where in a text that was sent, counted from 1. */
  line?: number
  /** Of a call for several things: which of them it could not do, and why. */
  failed?: { path: string; message?: string }[]
}

export const badAnswer: ApiFailure = { status: 'BAD_ANSWER' }

const isFailure = (error: unknown): error is ApiFailure =>
  typeof error === 'object' && error !== null && 'status' in error

/** The server's text, or the product's own when there is none. */
export const failureText = (error: unknown, fallback: string) => (isFailure(error) && error.message) || fallback

/** What the product's text does not say by itself. */
export const failureHint = (error: unknown) =>
  isFailure(error) && error.status === 'UNREACHABLE' ? 'The server could not be reached.' : undefined

/** Why, below a text that says what failed: in the server's words, or ours where it said nothing. */
export const failureDetail = (error: unknown) => failureText(error, failureHint(error) ?? '')

/** The server answered, and its answer was no: a 2xx that says so or lacks what was asked for. */
export const isRefusal = (error: unknown) =>
  isFailure(error) && (error.status === 'BAD_ANSWER' || Number(error.status) < 300)

/** An extra of our platform that this server does not have. */
export const isNotOffered = (error: unknown) => isFailure(error) && error.status === 404

/** What was asked for is not configured, or cannot be reached; the server says what to set or start (decisions §1). */
export const isUnavailable = (error: unknown) => isFailure(error) && error.status === 503

/** There is no such part on this server, which is no failure; an extra of our platform. */
export const isNotConfigured = (error: unknown) => isFailure(error) && error.code === 'NOT_CONFIGURED'

/** Somebody ended what was asked for before it was done. */
export const isCancelled = (error: unknown) => isFailure(error) && error.code === 'CANCELLED'
