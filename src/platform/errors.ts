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

const unknownCode = (errno: number) => `Unknown system error -${errno}`

/** Codes that Node.js does not name: of an exceeded disk quota, and of corrupt data in ext4 and XFS. */
const CODES: ReadonlyMap<unknown, string> = new Map([
  [unknownCode(constants.errno.EDQUOT), 'EDQUOT'],
  [unknownCode(constants.errno.EBADMSG), 'EBADMSG'],
  // Missing in the constants of Node.js.
  [unknownCode(117), 'EUCLEAN'],
])

/** The `code` of a Node.js or PostgreSQL error (`ENOENT`, `23505`), if it has one. */
export function errorCodeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return CODES.get(code) ?? (typeof code === 'string' ? code : undefined)
}
