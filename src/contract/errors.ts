import { z } from 'zod'

/** Every error code of the platform with its HTTP status (decisions §1). */
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
  METHOD_NOT_ALLOWED: 405,
  TOO_SLOW: 408,
  NAME_TAKEN: 409,
  CONFLICT: 409,
  /** The job was cancelled by a user. */
  CANCELLED: 409,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  /** The requested range begins after the end of the file. */
  RANGE_NOT_SATISFIABLE: 416,
  TOO_MANY_TRIES: 429,
  HEADER_TOO_LARGE: 431,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  /** The service is not configured, which is not an error. */
  NOT_CONFIGURED: 503,
  DISK_FULL: 507,
} as const

export type ErrorCode = keyof typeof errorStatus

/** The body of every failed call. */
export const Failure = z.object({
  success: z.literal(false),
  code: z.string(),
  message: z.string().describe('Shown to the user.'),
  error: z.string().describe('The same text.'),
  /** Our extra. */
  field: z.string().optional().describe('Path of the invalid input, for example `run.port`.'),
  /** Our extra. */
  line: z.number().int().positive().optional().describe('One-based line in a configuration text.'),
})
export type Failure = z.infer<typeof Failure>
