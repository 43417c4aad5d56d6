/** As rules.ts, for the pages after sign-in only: the login page does not load this. */

/** The manager counts as responding while its last heartbeat is younger than this. */
export const MANAGER_ALIVE_MS = 30_000

/** A DNS label (RFC 1123) of at most 40 lower-case characters. */
export const DEPLOYMENT_NAME_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/
export const DATABASE_NAME_MAX_LENGTH = 64
export const DATABASE_NAME_PATTERN = /^[A-Za-z0-9_]+$/

/** The text of product §5, which names dashes although the rule does not allow them. */
export const INVALID_DATABASE_NAME = 'Database name can only contain letters, numbers, dashes, and underscores'

/** Names of new or renamed files and directories (product §5). The limit of 255 bytes applies as well. */
// eslint-disable-next-line no-control-regex -- excludes control characters
export const FILE_NAME_PATTERN = /^(?!\.{1,2}$)[^<>:"/\\|?*\u0000-\u001f\u007f]+$/

/** PostgreSQL, file names and process arguments cannot hold NUL. */
// eslint-disable-next-line no-control-regex -- excludes NUL
export const NUL_FREE = /^[^\u0000]*$/
export const NO_NUL = 'must not contain a NUL character'

/**
 * UTF-8, and so PostgreSQL, cannot hold half of a surrogate pair, which escapes of JSON and YAML can write: a program
 * would read another character.
 */
export const WELL_FORMED = /^\P{Surrogate}*$/u

/** The root of the shared area in paths of the API (decisions §3). */
export const SHARED_ROOT = '/nfsshare'

/** Of a passkey or another sign-in method, and of an API key, in characters. */
export const METHOD_NAME_MAX_LENGTH = 60
export const KEY_NAME_MAX_LENGTH = 100

/** Name of the text file in a downloaded ZIP archive that says what is missing, beside what was requested. */
export const NOT_INCLUDED_NAME = 'not-included.txt'

/** Ordered: `typeIndex` is the position in this list (product §3). */
export const DEPLOYMENT_TYPES = ['proxy', 'persistent', 'scalable', 'process'] as const
export const INSTANCE_STATES = ['STARTING', 'RUNNING', 'BLOCKED', 'STOPPING', 'STOPPED'] as const

/** The end of a `blockedReason` that needs no user, because the platform starts the instance again. */
export const TRIED_AGAIN = 'The platform tries again.'

/** The socket.io event of every message; its only argument is `{id, data}` (decisions §6). */
export const REALTIME_EVENT = 'message'

/** The maximum length of a console command in UTF-16 code units. */
export const COMMAND_MAX_LENGTH = 8192

/** Close codes of the console channel; ours are in the private range of RFC 6455 §7.4. */
export const CLOSE_SESSION_ENDED = 4401

/** The session continues with other rights, so the client has to reconnect. */
export const CLOSE_RIGHTS_CHANGED = 4403
export const CLOSE_TOO_FAST = 1008

/** The maximum number of actions in a log; fewer if they are long (decisions §10). */
export const ACTION_LOG_LENGTH = 2000

/** Returns the `count`th alternative for a name that is taken: `world (2).tar.gz` for `world.tar.gz` and 2. */
export function numberedName(name: string, count: number): string {
  const [, stem = name, extension = ''] = /^(.+?)(\.tar\.[a-z0-9]+|\.[^.]*)?$/is.exec(name) ?? []
  return `${stem} (${count})${extension}`
}

/** From the fewest rights to the most (decisions §16). */
export const ROLES = ['limited', 'operator', 'administrator'] as const

/** The rights that a limited user may have on a deployment (decisions §16). Each grant includes `view`. */
export const RIGHTS = ['view', 'console', 'power', 'files', 'configuration', 'schedules', 'backups'] as const

/** What an API key may be used for (decisions §16). */
export const SCOPES = [
  'read',
  'console',
  'power',
  'files',
  'configuration',
  'databases',
  'schedules',
  'backups',
  'metrics',
  'admin',
] as const

/** Every API key begins with this prefix, so that leaked keys can be found. */
export const API_KEY_PREFIX = 'qd_'

/** The cookie in which a sign-in by OpenID Connect, which is a navigation, passes the wrong codes to the page. */
export const WRONG_CODES_COOKIE = 'wrongCodes'
