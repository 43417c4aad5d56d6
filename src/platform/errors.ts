import { constants } from 'node:os'
import { errorStatus, type ErrorCode } from '../contract/errors'

export interface FailureDetails {
  /** For TOO_MANY_TRIES: whole seconds until the next attempt makes sense. */
  retryAfterSeconds?: number
  /** Path of the invalid input field, such as `run.port`. */
  field?: string
  /** One-based line in a text. */
  line?: number
}

/**
 * An expected failure. Services throw it; only `http/envelope.ts` turns it into a response. `message` is shown to
 * users: it names the problem and contains no secret, host path or driver text.
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

/** A reason not to start. Each line is printed without a stack, and the process exits with code 1. */
export class StartError extends Error {
  constructor(readonly lines: string[]) {
    super(lines.join('\n'))
    this.name = 'StartError'
  }
}

const unnamed = (errno: number) => `Unknown system error -${errno}`
/**
 * Codes of errors for which Node.js has no name: a disk quota that is used up, and what ext4 and XFS answer for damaged
 * data.
 */
const NAMES: ReadonlyMap<unknown, string> = new Map([
  [unnamed(constants.errno.EDQUOT), 'EDQUOT'],
  [unnamed(constants.errno.EBADMSG), 'EBADMSG'],
  // Missing in Node.js's constants.
  [unnamed(117), 'EUCLEAN'],
])

/** The `code` of a Node.js or PostgreSQL error (`ENOENT`, `23505`), if it has one. */
export function errorCodeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return NAMES.get(code) ?? (typeof code === 'string' ? code : undefined)
}
