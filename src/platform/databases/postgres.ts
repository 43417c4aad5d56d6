import { setTimeout as delay } from 'node:timers/promises'
import { escapeIdentifier, escapeLiteral, type ClientBase } from 'pg'
import pLimit from 'p-limit'
import { AppError, errorCodeOf } from '../errors'
import { nameTaken, notOnServer, type DatabaseServer, type DatabaseStats, type ServerDatabase } from './databaseServer'
import {
  createPostgresConnections,
  SAFE_SEARCH_PATH,
  type PostgresConnections,
  type PostgresParts,
} from './postgresConnections'
import { alterRole, createRole, dropDatabase, dropRole, endConnections, roleOf } from './postgresRoles'
import { scramVerifier } from './scramVerifier'

const COUNT_MS = 4000
const PARALLEL_COUNTS = 8

/** Users' databases on a PostgreSQL server (14 or newer). Each is owned by a login role of its own. */
export function createPostgres(parts: PostgresParts): DatabaseServer {
  const { url, log } = parts
  const connections = createPostgresConnections(parts)
  const counts = pLimit(PARALLEL_COUNTS)

  return {
    // The server is started elsewhere.
    open: async () => undefined,

    async address({ username, physical_name }, password) {
      const { hostname, port, searchParams } = new URL(await url())
      const address = { host: hostname, port: Number(port || 5432) }
      const sslmode = searchParams.get('sslmode')
      if (sslmode === null) return address
      return {
        ...address,
        connectionString: `postgresql://${username}:${password}@${hostname}:${address.port}/${physical_name}?sslmode=${encodeURIComponent(sslmode)}`,
      }
    },

    async stats(databases) {
      const sizes = await connections.run((client) => sizesOf(client, databases))
      const statsById = new Map<string, DatabaseStats>()
      const found = databases.filter((database) => sizes.has(database.physical_name))
      for (const database of found) statsById.set(database.id, sizes.get(database.physical_name)!)
      // For all together: the owner of many databases may hold up each connection to them.
      let isLate = false
      const counting = Promise.all(
        found.map((database) =>
          counts(async () => {
            if (isLate) return
            const tables = await countTables(connections, database).catch((error: unknown) => {
              log.debug(
                { database: database.physical_name, code: errorCodeOf(error) },
                'failed to count the tables of a database',
              )
              return undefined
            })
            if (tables !== undefined) statsById.set(database.id, { ...statsById.get(database.id), tables })
          }),
        ),
      )
      await Promise.race([counting, delay(COUNT_MS, undefined, { ref: false })])
      isLate = true
      return statsById
    },

    async create(database, password) {
      const name = escapeIdentifier(database.physical_name)
      const role = escapeIdentifier(database.username)
      const verifier = await scramVerifier(password)
      await connections.run(async (client, { isSuperuser }) => {
        if ((await roleOf(client, database)) || (await ownerOf(client, database)) !== undefined)
          throw nameTaken(database.physical_name)
        try {
          await createRole(client, database, verifier, isSuperuser)
          // No connections until PUBLIC's right to connect is revoked.
          await client.query(`create database ${name} owner ${role} allow_connections false`)
        } catch (error) {
          // Created concurrently: duplicate_object, duplicate_database, or a violation of their unique indexes.
          if (['42710', '42P04', '23505'].includes(errorCodeOf(error) ?? '')) throw nameTaken(database.physical_name)
          throw error
        }
        await client.query(`revoke all on database ${name} from public`)
        await client.query(`alter database ${name} allow_connections true`)
        await client.query(`alter role ${role} login`)
      })
    },

    async setPassword(database, password) {
      const verifier = await scramVerifier(password)
      await connections.run(async (client) => {
        if (!(await roleOf(client, database))?.hasMarker) throw notOnServer(database.physical_name)
        // No session may set a password of its own after this one, so all of them end before it is set. One that does
        // not react executes no further statement.
        await alterRole(connections, client, database, 'nologin')
        await endConnections(connections, client, database)
        await alterRole(connections, client, database, `login password ${escapeLiteral(verifier)}`)
      })
    },

    async remove(database) {
      await connections.run(async (client) => {
        const role = await roleOf(client, database)
        if (!role?.hasMarker) return
        const owner = await ownerOf(client, database)
        if (owner !== undefined && owner !== role.oid) {
          throw new AppError(
            'CONFLICT',
            `The database "${database.physical_name}" has another owner now. Make "${database.username}" its owner again first.`,
          )
        }
        await alterRole(connections, client, database, 'nologin')
        await endConnections(connections, client, database)
        if (owner !== undefined) await dropDatabase(connections, client, database)
        await dropRole(connections, client, database, role)
      })
    },

    close: () => connections.close(),
  }
}

async function ownerOf(client: ClientBase, database: ServerDatabase): Promise<string | undefined> {
  const { rows } = await client.query<{ owner: string }>('select datdba as owner from pg_database where datname = $1', [
    database.physical_name,
  ])
  return rows[0]?.owner
}

/** By name on the server, without `size` for databases that the administrator may not measure. */
async function sizesOf(client: ClientBase, databases: ServerDatabase[]): Promise<Map<string, { size?: number }>> {
  const { rows } = await client.query<{ name: string; size: string | null }>(
    `select datname as name, case when has_database_privilege(oid, 'connect') then pg_database_size(oid) end as size
     from pg_database where datname = any($1)`,
    [databases.map(({ physical_name }) => physical_name)],
  )
  return new Map(rows.map(({ name, size }) => [name, size === null ? {} : { size: Number(size) }]))
}

async function countTables(
  connections: PostgresConnections,
  { physical_name, username }: ServerDatabase,
): Promise<number> {
  // With the rights of the database's own role only, because its owner may have prepared malicious objects.
  return connections.runIn(physical_name, `${SAFE_SEARCH_PATH} -c role=${username}`, COUNT_MS, async (client) => {
    const { rows } = await client.query<{ tables: number }>(
      `select count(*)::int as tables from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where relkind in ('r', 'p') and not relispartition and nspname !~ '^pg_' and nspname <> 'information_schema'`,
    )
    return rows[0]?.tables ?? 0
  })
}
