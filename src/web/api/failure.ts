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
}

export const badAnswer: ApiFailure = { status: 'BAD_ANSWER' }

const isFailure = (error: unknown): error is ApiFailure => typeof error === 'object' && error !== null && 'status' in error

/** The server's text, or the product's own when there is none. */
export const failureText = (error: unknown, fallback: string) => (isFailure(error) && error.message) || fallback

/** What the product's text does not say by itself. */
export const failureHint = (error: unknown) =>
  isFailure(error) && error.status === 'UNREACHABLE' ? 'The server could not be reached.' : undefined

/** The server answered, and its answer was no: a 2xx that says so or lacks what was asked for. */
export const isRefusal = (error: unknown) => isFailure(error) && (error.status === 'BAD_ANSWER' || Number(error.status) < 300)
