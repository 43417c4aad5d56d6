import type { ErrorCode } from '../../../../contract/errors'

const words: Partial<Record<ErrorCode, string>> = {
  INVALID_INPUT: 'the input was not valid',
  INVALID_DEFINITION: 'the configuration was not valid',
  INVALID_INVITE: 'the invite code was not valid',
  BAD_CREDENTIALS: 'wrong username or password',
  INVALID_CODE: 'wrong verification code',
  STEP_EXPIRED: 'took too long',
  NOT_ALLOWED: 'not allowed',
  NOT_FOUND: 'does not exist',
  NAME_TAKEN: 'the name was taken',
  CONFLICT: 'something had changed meanwhile',
  CANCELLED: 'cancelled',
  TOO_LARGE: 'too large',
  TOO_SLOW: 'the request was too slow',
  INTERNAL: 'an error of the server',
  UNAVAILABLE: 'a part of the server was not reachable',
  NOT_CONFIGURED: 'not configured',
  DISK_FULL: 'the disk was full',
}

/** Why something failed, in words. A newer server may send codes that this console does not know. */
export const failureInWords = (code: string): string =>
  (Object.hasOwn(words, code) && words[code as ErrorCode]) || code.toLowerCase().replaceAll('_', ' ')
