/**
 * Rules, names and limits that the console and the platform share, and that the login page needs. Without zod, like
 * pageRules.ts, so that the console does not load zod at run time. The schemas are in the other files of this folder.
 */

export const PASSWORD_MIN_LENGTH = 8
export const PASSWORD_MAX_LENGTH = 128
export const USERNAME_MIN_LENGTH = 3
export const USERNAME_MAX_LENGTH = 32
export const CODE_LENGTH = 6

/** Lifetime of a session's token and cookies. */
export const SESSION_DAYS = 7
export const USERNAME_PATTERN = /^[A-Za-z0-9_.-]{3,32}$/
export const CODE_PATTERN = /^[0-9]{6}$/

/** Header of every response to a signed-in user: their current role, `admin`, `user` or `limited`. Our extra. */
export const ROLE_HEADER = 'quarterdeck-role'
