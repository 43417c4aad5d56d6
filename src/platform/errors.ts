import { errorStatus, type ErrorCode } from '../contract/errors'

export interface FailureDetails {
  /** For TOO_MANY_TRIES: whole seconds until another try makes sense. */
  retryAfterSeconds?: number
  /** Which part of the input is wrong, as a path such as `run.port`. */
  field?: string
  /** Where in a text, counted from 1. */
  line?: number
}

/**
 * An expected failure. Services throw it; `http/envelope.ts` alone turns it into an answer.
 * `message` is text for people: it names what is wrong and holds no secret, host path or driver text.
 */
export class AppError extends Error {
  readonly status: number

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: FailureDetails = {},
  ) {
    super(message)
    this.name = 'AppError'
    this.status = errorStatus[code]
  }
}

/** A reason not to start: each line is printed as it is, without a stack, and the process ends with exit code 1. */
export class StartError extends Error {
  constructor(readonly lines: string[]) {
    super(lines.join('\n'))
    this.name = 'StartError'
  }
}

/** The `code` of a Node.js or PostgreSQL error (`ENOENT`, `23505`), if it has one. */
export function errorCodeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
