import type { DatabaseType } from '../../../contract/database'
import type { ListedDatabase, ShownCredentials } from '../../api/databases'
import type { Code } from './code'
import { code, mapCode, secret } from './code'
import { percentEncoded } from './quoting'

/** Everything a client needs, each as it is: nothing is encoded yet. */
export type Connection = {
  username: string
  password: string
  host: string
  /** Undefined: the server did not say, and clients take their usual one. */
  port: number | undefined
  /** What the server itself calls the database. */
  database: string
  /** What else a client must know to get there, by its name in a connection string. */
  options: readonly (readonly [name: string, value: string])[]
  /** MongoDB, where `host` is one of several or a name in DNS that stands for them: only the server's own string leads there. */
  given: string | undefined
}

/** Options of the server's own string that are put into ours. Any other may be for its own clients, or hold a secret. */
const optionNames: Record<DatabaseType, readonly string[]> = {
  sql: ['sslmode'],
  mongo: ['tls', 'ssl', 'replicaSet', 'loadBalanced', 'retryWrites', 'authSource', 'authMechanism', 'directConnection'],
}

/** Undefined when the server does not tell all that a connection takes. */
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

/** Where MongoDB knows the user, if not in the database, may be a credential of its own. */
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

/** A URI that any client of the type understands. Without a password the client asks for it. */
export function connectionString(type: DatabaseType, connection: Connection, { withPassword = true } = {}): Code {
  const { username, password, database, given } = connection
  if (given !== undefined) return marked(given)
  const user = percentEncoded(username)
  const who = withPassword ? code`${user}:${mapCode(secret(password), percentEncoded)}` : code`${user}`
  return code`${schemes[type]}://${who}@${addressOf(connection)}/${percentEncoded(database)}${optionsText(connection)}`
}

/** As a URI has them, with the question mark. */
export function optionsText({ options }: Pick<Connection, 'options'>) {
  return options.map(([name, value], at) => `${at === 0 ? '?' : '&'}${name}=${percentEncoded(value)}`).join('')
}

/** A string that somebody else built. What is not found in it is hidden with all the rest. */
export function marked(given: string): Code {
  const [, before, password, after] = /^([^:]+:\/\/[^:@/?#]*:)([^@/?#]+)(@.*)$/.exec(given) ?? []
  return before && password && after ? code`${before}${secret(password)}${after}` : secret(given)
}

/** Host and port as URIs have them: an IPv6 address in brackets, its zone encoded (RFC 6874). */
export function addressOf({ host, port }: Pick<Connection, 'host' | 'port'>) {
  const [address = '', zone] = host.split('%')
  const isIPv6 = /^[0-9a-f:.]+$/i.test(address) && address.split(':').length > 2
  const encoded = isIPv6
    ? `[${address}${zone === undefined ? '' : `%25${percentEncoded(zone)}`}]`
    : percentEncoded(host)
  return port === undefined ? encoded : `${encoded}:${port}`
}
