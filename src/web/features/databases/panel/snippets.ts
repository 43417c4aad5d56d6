import type { DatabaseType } from '../../../../contract/database'
import type { Code } from './code'
import { code, secret } from './code'
import type { Connection } from './connection'
import { addressOf, connectionString, optionsText } from './connection'
import { percentEncoded, quoted, shellQuoted, springQuoted } from './quoting'

export type Snippet = { key: string; title: string; source: (connection: Connection) => Code }

const jdbcUrl = (connection: Connection) =>
  `jdbc:postgresql://${addressOf(connection)}/${percentEncoded(connection.database)}${optionsText(connection)}`
/** Translates sslmode to the `ssl` setting of pg. `require` encrypts without verifying the server. */
function nodeSsl({ options }: Pick<Connection, 'options'>): string {
  const mode = options.find(([name]) => name === 'sslmode')?.[1] ?? ''
  if (mode.startsWith('verify-')) return '\n  ssl: true,'
  return mode === 'require' ? '\n  ssl: { rejectUnauthorized: false },' : ''
}
const mongoUri = (connection: Connection) => connectionString('mongo', connection)

/** Each snippet can be pasted unchanged, whatever characters a password or name has. The first is the default. */
export const snippets: Record<DatabaseType, readonly [Snippet, ...Snippet[]]> = {
  sql: [
    {
      key: 'psql',
      title: 'psql',
      // Arguments are visible to all users of the machine, the environment is not.
      source: (connection) =>
        code`PGPASSWORD=${shellQuoted(secret(connection.password))} psql ${shellQuoted(connectionString('sql', connection, { withPassword: false }))}`,
    },
    {
      key: 'jdbc',
      title: 'JDBC',
      source: (connection) => code`Connection connection = DriverManager.getConnection(
    ${quoted([jdbcUrl(connection)])},
    ${quoted([connection.username])},
    ${quoted(secret(connection.password))});`,
    },
    {
      key: 'node',
      title: 'Node.js',
      source: ({ host, port, username, password, database, options }) => code`import pg from "pg";

const client = new pg.Client({
  host: ${quoted([host])},
  port: ${port ?? 5432},
  user: ${quoted([username])},
  password: ${quoted(secret(password))},
  database: ${quoted([database])},${nodeSsl({ options })}
});
await client.connect();`,
    },
    {
      key: 'spring',
      title: 'Spring',
      source: (connection) => code`# application.yml
spring:
  datasource:
    url: ${springQuoted([jdbcUrl(connection)])}
    username: ${springQuoted([connection.username])}
    password: ${springQuoted(secret(connection.password))}`,
    },
    {
      key: 'plugin',
      title: 'Plugin config',
      source: (connection) => code`# config.yml, here of LuckPerms
storage-method: PostgreSQL
data:
  address: ${quoted([addressOf(connection)])}
  database: ${quoted([connection.database])}
  username: ${quoted([connection.username])}
  password: ${quoted(secret(connection.password))}`,
    },
  ],
  mongo: [
    {
      key: 'mongosh',
      title: 'mongosh',
      source: (connection) => code`mongosh ${shellQuoted(mongoUri(connection))}`,
    },
    {
      key: 'node',
      title: 'Node.js',
      source: (connection) => code`import { MongoClient } from "mongodb";

const client = new MongoClient(${quoted(mongoUri(connection))});
const database = client.db(${quoted([connection.database])});`,
    },
    {
      key: 'spring',
      title: 'Spring',
      source: (connection) => code`# application.yml; from Spring Boot 4 on without "data"
spring:
  data:
    mongodb:
      uri: ${springQuoted(mongoUri(connection))}`,
    },
    {
      key: 'plugin',
      title: 'Plugin config',
      source: (connection) => code`# config.yml, here of LuckPerms
storage-method: MongoDB
data:
  database: ${quoted([connection.database])}
  mongodb-connection-uri: ${quoted(mongoUri(connection))}`,
    },
  ],
}
