import type { DatabaseType } from '../../../../contract/database'
import type { ListedDatabase, ShownCredentials } from '../../../api/databases'
import type { Code } from './code'
import { code, mapCode, secret } from './code'
import { percentEncoded } from './quoting'

/** The parameters of a client's connection, neither encoded nor quoted. */
export type Connection = {
  username: string
  password: string
  host: string
  /** Undefined if the server did not send it; clients then use their default. */
  port: number | undefined
  /** The database name on its server. */
  database: string
  /** Further connection options, by their names in a connection string. */
  options: readonly (readonly [name: string, value: string])[]
  /** The server's own string, if MongoDB has several hosts or a DNS seed list: it cannot be rebuilt from `host`. */
  given: string | undefined
}

/** Options that are copied from the server's string. Any other may be specific to its own clients, or hold a secret. */
const optionNames: Record<DatabaseType, readonly string[]> = {
  sql: ['sslmode'],
  mongo: ['tls', 'ssl', 'replicaSet', 'loadBalanced', 'retryWrites', 'authSource', 'authMechanism', 'directConnection'],
}

/** Returns undefined if the server did not send all that a connection needs. */
export function connectionOf(type: DatabaseType, { name, credentials }: ListedDatabase): Connection | undefined {
  const { username, password, host, port, database, connectionString: given } = credentials
  if (!isText(username) || !isText(password) || !isText(host)) return undefined
  return {
    username,
    password,
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || undefined,
    database: isText(database) ? database : name,
    options: optionsOf(type, credentials),
    given:
      type === 'mongo' && isText(given) && /^mongodb(\+srv:|:\/\/([^@/?]*@)?[^@/?]*,)/.test(given) ? given : undefined,
  }
}

/** The user of a MongoDB database may be defined in another one, which is then sent as a credential (`authSource`). */
function optionsOf(
  type: DatabaseType,
  { authSource, connectionString: given }: ShownCredentials,
): Connection['options'] {
  const options = new URLSearchParams(type === 'mongo' && isText(authSource) ? { authSource } : {})
  const [, scheme, query] = isText(given) ? (/^([a-z]+):\/\/[^?#]*\?([^#]*)/.exec(given) ?? []) : []
  if (scheme === schemes[type] || (scheme === 'postgres' && type === 'sql')) {
    for (const [name, value] of new URLSearchParams(query)) {
      const known = optionNames[type].find((each) => each.toLowerCase() === name.toLowerCase())
      if (known) options.set(known, value)
    }
  }
  return [...options]
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const schemes: Record<DatabaseType, string> = { sql: 'postgresql', mongo: 'mongodb' }

/** Returns a URI for clients of this type. Without a password, the client prompts for it. */
export function connectionString(type: DatabaseType, connection: Connection, { withPassword = true } = {}): Code {
  const { username, password, database, given } = connection
  if (given !== undefined) return marked(given)
  const user = percentEncoded(username)
  const who = withPassword ? code`${user}:${mapCode(secret(password), percentEncoded)}` : code`${user}`
  return code`${schemes[type]}://${who}@${addressOf(connection)}/${percentEncoded(database)}${optionsText(connection)}`
}

/** Returns the options as the query of a URI, with the question mark. */
export function optionsText({ options }: Pick<Connection, 'options'>) {
  return options.map(([name, value], at) => `${at === 0 ? '?' : '&'}${name}=${percentEncoded(value)}`).join('')
}

/** Marks the password in a string that the server built. If it is not found, the whole string is secret. */
export function marked(given: string): Code {
  const [, before, password, after] = /^([^:]+:\/\/[^:@/?#]*:)([^@/?#]+)(@.*)$/.exec(given) ?? []
  return before && password && after ? code`${before}${secret(password)}${after}` : secret(given)
}

/** Returns host and port for a URI: an IPv6 address is in brackets and its zone is percent-encoded (RFC 6874). */
export function addressOf({ host, port }: Pick<Connection, 'host' | 'port'>) {
  const [address = '', zone] = host.split('%')
  const isIPv6 = /^[0-9a-f:.]+$/i.test(address) && address.split(':').length > 2
  const encoded = isIPv6
    ? `[${address}${zone === undefined ? '' : `%25${percentEncoded(zone)}`}]`
    : percentEncoded(host)
  return port === undefined ? encoded : `${encoded}:${port}`
}
