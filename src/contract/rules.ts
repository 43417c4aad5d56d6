/** Rules that both halves check, and the limits they share. Free of zod, so that the console's first page stays small. */

export const PASSWORD_MIN_LENGTH = 8
export const PASSWORD_MAX_LENGTH = 128
export const USERNAME_MIN_LENGTH = 3
export const USERNAME_MAX_LENGTH = 32
export const CODE_LENGTH = 6

/** How long a session's token lives, and the cookies that hold it. In days. */
export const SESSION_DAYS = 7
/** The manager counts as responding while its heartbeat is younger than this. In milliseconds. */
export const MANAGER_ALIVE_MS = 30_000

/** 3 to 32 of letters, digits and `_ . -`. */
export const USERNAME_PATTERN = /^[A-Za-z0-9_.-]{3,32}$/
export const CODE_PATTERN = /^[0-9]{6}$/
/** A DNS label (RFC 1123) of 1 to 40 lower-case characters. */
export const DEPLOYMENT_NAME_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/

export const DATABASE_NAME_MAX_LENGTH = 64
/** Letters, digits and underscores. */
export const DATABASE_NAME_PATTERN = /^[A-Za-z0-9_]+$/
/** The text of product §5, which names dashes although the rule does not allow them. */
export const INVALID_DATABASE_NAME = 'Database name can only contain letters, numbers, dashes, and underscores'

/** What a file or directory may be called when it is made or renamed (product §5). At most 255 bytes, besides. */
// eslint-disable-next-line no-control-regex -- these are what is forbidden
export const FILE_NAME_PATTERN = /^(?!\.{1,2}$)[^<>:"/\\|?*\u0000-\u001f\u007f]+$/

/** PostgreSQL, file names and process arguments cannot hold it. */
export const hasNoNul = (text: string): boolean => !text.includes('\0')
export const NO_NUL = 'must not contain a NUL character'

/** Our extra: every answer to a call of a signed-in user says in this header what they may do, `admin` or `user`, as of now. */
export const ROLE_HEADER = 'quarterdeck-role'
