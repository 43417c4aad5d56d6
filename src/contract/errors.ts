import { z } from 'zod'

/** Every failure code of the platform with the HTTP status it is answered with (decisions §1). */
export const errorStatus = {
  INVALID_INPUT: 400,
  INVALID_INVITE: 400,
  INVALID_DEFINITION: 400,
  BAD_CREDENTIALS: 400,
  INVALID_CODE: 400,
  STEP_EXPIRED: 400,
  NO_SESSION: 401,
  NOT_ALLOWED: 403,
  NOT_FOUND: 404,
  TOO_SLOW: 408,
  NAME_TAKEN: 409,
  CONFLICT: 409,
  /** A job that was cancelled before it was done. */
  CANCELLED: 409,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  /** What was asked for of a file lies behind its end. */
  RANGE_NOT_SATISFIABLE: 416,
  TOO_MANY_TRIES: 429,
  HEADER_TOO_LARGE: 431,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  /** There is no such part here: nothing failed, somebody has yet to set it up. */
  NOT_CONFIGURED: 503,
  DISK_FULL: 507,
} as const

export type ErrorCode = keyof typeof errorStatus

/** The body of every failed call. */
export const Failure = z.object({
  success: z.literal(false),
  code: z.string(),
  /** Text for people. */
  message: z.string(),
  /** The same text. */
  error: z.string(),
  /** Which part of the input is wrong, as a path such as `run.port`. Our extra. */
  field: z.string().optional(),
  /** Where in a configuration text, counted from 1. Our extra. */
  line: z.number().int().positive().optional(),
})
export type Failure = z.infer<typeof Failure>
