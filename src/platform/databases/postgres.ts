import { Client, escapeIdentifier, escapeLiteral, Pool, type ClientBase } from 'pg'
import type { Logger } from 'pino'
import { AppError, errorCodeOf } from '../errors'
import { isUnreachable, identifyDatabase, type DatabaseIdentity } from '../state/db'
import {
  markerOf,
  nameTaken,
  notOnServer,
  type DatabaseServer,
  type DatabaseStats,
  type ServerDatabase,
} from './databaseServer'
import { createConcurrencyLimit } from './concurrencyLimit'
import { scramVerifier } from './scramVerifier'

/** For each role. A plugin's pool usually has 10 connections. The platform's own are reserved (embeddedPostgres.ts). */
const CONNECTION_LIMIT = 20
/** Ends runaway statements and abandoned transactions. A role may override these for itself. */
const TIMEOUTS = { statement_timeout: '5min', idle_in_transaction_session_timeout: '5min' }
/** An outage is reported within five seconds. */
const CONNECT_MS = 3500
/** Copying the template on a slow disk takes seconds. */
const CHANGE_MS = 30_000
const COUNT_MS = 4000
const PARALLEL_COUNTS = 8
/** The owner of a database may set a search path with their own functions, which an administrator must not call. */
const SAFE_SEARCH_PATH = '-c search_path=pg_catalog'
/** Other settings that a database's owner may set for all its sessions, and that would hinder an administrator's. */
const ADMIN_SESSION_OPTIONS = `${SAFE_SEARCH_PATH} -c role=none -c default_transaction_read_only=off -c statement_timeout=0 -c idle_session_timeout=0 -c idle_in_transaction_session_timeout=0 -c local_preload_libraries=`
const LOCK_NOT_AVAILABLE = '55P03'
/** How long to wait for other transactions' locks before they are ended. */
const LOCK_MS = 2000
/** Clients may reconnect and lock again at once. */
const LOCK_TRIES = 5

export interface PostgresParts {
  /** An administrator's URL. Called for each new connection; may throw an AppError. */
  url: () => Promise<string>
  /** The name of the server in messages: `The embedded PostgreSQL`, `The PostgreSQL server of QUARTERDECK_SQL_URL`. */
  title: string
  /** What to do when the server is down, as a sentence. */
  remedy: string
  /** The platform's own database. If it is on this server, only its role may connect to it. */
  state: DatabaseIdentity | undefined
  log: Logger
}

interface Role {
  oid: string
  hasMarker: boolean
}

/** Users' databases on a PostgreSQL server (14 or newer). Each is owned by a login role of its own. */
export function createPostgres({ url, title, remedy, state, log }: PostgresParts): DatabaseServer {
  let pool: Pool | undefined
  let prepared: Promise<void> | undefined
  let isSuperuser = false
  const counts = createConcurrencyLimit(PARALLEL_COUNTS)

  async function openPool(): Promise<Pool> {
    const connectionString = await url()
    if (!pool) {
      pool = new Pool({
        connectionString: withOptions(connectionString, SAFE_SEARCH_PATH),
        max: 8,
        connectionTimeoutMillis: CONNECT_MS,
        query_timeout: CHANGE_MS,
        idleTimeoutMillis: 10_000,
        keepAlive: true,
      })
      // Without listeners a broken connection would end the process.
      pool.on('error', () => undefined)
      pool.on('connect', (client) => client.on('error', () => undefined))
    }
    return pool
  }

  /** Runs work on one connection, and converts its failures to AppErrors for operators. */
  async function onServer<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result> {
    let failed = true
    let client
    try {
      client = await (await openPool()).connect()
      await (prepared ??= revokePublicConnect(client))
      const result = await work(client)
      failed = false
      return result
    } catch (error) {
      throw toAppError(error)
    } finally {
      // After a failure the connection may be broken or in a transaction, so it is closed.
      client?.release(failed)
    }
  }

  function toAppError(error: unknown): unknown {
    const code = errorCodeOf(error)
    if (isUnreachable(error)) return new AppError('UNAVAILABLE', `${title} does not answer. ${remedy}`)
    if (code === '28P01' || code === '28000')
      return new AppError('UNAVAILABLE', `${title} refuses the user or password it is given.`)
    if (code === '3D000') return new AppError('UNAVAILABLE', `${title} does not have the database that its URL names.`)
    if (code === '42501')
      return new AppError(
        'UNAVAILABLE',
        `${title} does not let its administrator make databases and roles: give that user CREATEDB and CREATEROLE.`,
      )
    if (code === '53100')
      return new AppError('DISK_FULL', `${title} has no room left on its disk. Nothing was changed.`)
    return error
  }

  /** Runs once: revokes PUBLIC's right to connect to the server's own databases and the platform's. */
  async function revokePublicConnect(client: ClientBase): Promise<void> {
    try {
      const { rows: me } = await client.query<{ super: boolean }>(
        'select rolsuper as super from pg_roles where rolname = current_user',
      )
      isSuperuser = me[0]?.super ?? false
      const isHere = state !== undefined && (await identifyDatabase(client))?.server === state.server
      for (const name of await listPublicDatabases(client)) {
        const isState = isHere && name === state.database
        if (!isState && !['template1', 'postgres'].includes(name)) continue
        const database = escapeIdentifier(name)
        // Granted first, because the platform may have relied on PUBLIC's right.
        const statements = [
          ...(isState ? [`grant connect on database ${database} to ${escapeIdentifier(state.role)}`] : []),
          `revoke connect, temporary on database ${database} from public`,
        ]
        await client.query(statements.join('; ')).catch((error: unknown) => {
          // Insufficient privilege, or (on a copy of a server) no such role. The warning below names the database.
          if (!['42501', '42704'].includes(errorCodeOf(error) ?? '')) throw error
        })
      }
      const left = await listPublicDatabases(client)
      if (left.length > 0)
        log.warn(
          { databases: left },
          'everybody may open these databases of the PostgreSQL server, users’ roles too: revoke CONNECT on them from PUBLIC',
        )
    } catch (error) {
      prepared = undefined
      throw error
    }
  }

  async function listPublicDatabases(client: ClientBase): Promise<string[]> {
    const { rows } = await client.query<{ name: string }>(
      "select datname as name from pg_database where datallowconn and has_database_privilege('public', oid, 'connect') order by datname",
    )
    return rows.map(({ name }) => name)
  }

  async function roleOf(client: ClientBase, database: ServerDatabase): Promise<Role | undefined> {
    const { rows } = await client.query<{ oid: string; mark: string | null }>(
      "select oid, shobj_description(oid, 'pg_authid') as mark from pg_roles where rolname = $1",
      [database.username],
    )
    return rows[0] && { oid: rows[0].oid, hasMarker: rows[0].mark === markerOf(database) }
  }

  async function ownerOf(client: ClientBase, database: ServerDatabase): Promise<string | undefined> {
    const { rows } = await client.query<{ owner: string }>(
      'select datdba as owner from pg_database where datname = $1',
      [database.physical_name],
    )
    return rows[0]?.owner
  }

  async function createRole(client: ClientBase, database: ServerDatabase, verifier: string): Promise<void> {
    const role = escapeIdentifier(database.username)
    await client.query('begin')
    await client.query(
      `create role ${role} nologin connection limit ${CONNECTION_LIMIT} password ${escapeLiteral(verifier)}`,
    )
    // In the same transaction, so that a role never exists without its marker.
    await client.query(`comment on role ${role} is ${escapeLiteral(markerOf(database))}`)
    for (const [name, value] of Object.entries(TIMEOUTS))
      await client.query(`alter role ${role} set ${name} = ${escapeLiteral(value)}`)
    // Only superusers may set or raise this limit.
    if (isSuperuser) await client.query(`alter role ${role} set temp_file_limit = '1GB'`)
    // Without superuser rights, only a member of a role may make it the owner of a database.
    if (!isSuperuser) await client.query(`grant ${role} to current_user`)
    await client.query('commit')
  }

  async function endConnections(client: ClientBase, { username }: ServerDatabase): Promise<void> {
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [username])
  }

  /** Revokes the role's privileges in other users' databases, which would prevent its removal. */
  async function dropRole(client: ClientBase, database: ServerDatabase, { oid }: Role): Promise<void> {
    const { rows } = await client.query<{ name: string }>(
      `select distinct datname as name from pg_shdepend join pg_database on pg_database.oid = dbid
       where refclassid = 'pg_authid'::regclass and refobjid = $1`,
      [oid],
    )
    const role = escapeIdentifier(database.username)
    for (const { name } of rows) await dropOwned(client, name, role)
    await client.query(`drop role ${role}`)
  }

  /** The owner of that database may hold locks forever: their transactions are ended. */
  async function dropOwned(client: ClientBase, name: string, role: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await withClientFor(name, `${ADMIN_SESSION_OPTIONS} -c lock_timeout=${LOCK_MS}`, CHANGE_MS, async (other) => {
          // Only PostgreSQL 17 and newer have this setting.
          await other.query('set transaction_timeout = 0').catch(() => undefined)
          await other.query(`drop owned by ${role}`)
        })
        return
      } catch (error) {
        if (errorCodeOf(error) !== LOCK_NOT_AVAILABLE || tries === LOCK_TRIES) throw error
        await client.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and backend_type = 'client backend' and xact_start is not null",
          [name],
        )
      }
    }
  }

  async function withClientFor<Result>(
    name: string,
    options: string,
    timeout: number,
    work: (client: Client) => Promise<Result>,
  ): Promise<Result> {
    const target = new URL(await url())
    target.pathname = `/${encodeURIComponent(name)}`
    const client = new Client({
      connectionString: withOptions(target.href, options),
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: timeout,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return await work(client)
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  async function countTables({ physical_name, username }: ServerDatabase): Promise<number> {
    // With the rights of the database's own role only, because its owner may have prepared malicious objects.
    return withClientFor(physical_name, `${SAFE_SEARCH_PATH} -c role=${username}`, COUNT_MS, async (client) => {
      const { rows } = await client.query<{ tables: number }>(
        `select count(*)::int as tables from pg_class join pg_namespace on pg_namespace.oid = relnamespace
         where relkind in ('r', 'p') and not relispartition and nspname !~ '^pg_' and nspname <> 'information_schema'`,
      )
      return rows[0]?.tables ?? 0
    })
  }

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
      const sizes = await onServer(async (client) => {
        const { rows } = await client.query<{ name: string; size: string | null }>(
          `select datname as name, case when has_database_privilege(oid, 'connect') then pg_database_size(oid) end as size
           from pg_database where datname = any($1)`,
          [databases.map(({ physical_name }) => physical_name)],
        )
        return new Map(rows.map(({ name, size }) => [name, size === null ? {} : { size: Number(size) }]))
      })
      const statsById = new Map<string, DatabaseStats>()
      await Promise.all(
        databases.map((database) =>
          counts(async () => {
            const size = sizes.get(database.physical_name)
            if (size === undefined) return
            const tables = await countTables(database).catch((error: unknown) => {
              log.debug(
                { database: database.physical_name, code: errorCodeOf(error) },
                'the tables of a database could not be counted',
              )
              return undefined
            })
            statsById.set(database.id, { ...size, ...(tables !== undefined && { tables }) })
          }),
        ),
      )
      return statsById
    },

    async create(database, password) {
      const name = escapeIdentifier(database.physical_name)
      const role = escapeIdentifier(database.username)
      const verifier = await scramVerifier(password)
      await onServer(async (client) => {
        if ((await roleOf(client, database)) || (await ownerOf(client, database)) !== undefined)
          throw nameTaken(database.physical_name)
        try {
          await createRole(client, database, verifier)
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
      await onServer(async (client) => {
        if (!(await roleOf(client, database))?.hasMarker) throw notOnServer(database.physical_name)
        await client.query(
          `alter role ${escapeIdentifier(database.username)} login password ${escapeLiteral(verifier)}`,
        )
        await endConnections(client, database)
      })
    },

    async remove(database) {
      await onServer(async (client) => {
        const role = await roleOf(client, database)
        if (!role?.hasMarker) return
        const owner = await ownerOf(client, database)
        if (owner !== undefined && owner !== role.oid) {
          throw new AppError(
            'CONFLICT',
            `The database "${database.physical_name}" belongs to another role by now. Give it back to "${database.username}" first.`,
          )
        }
        await client.query(`alter role ${escapeIdentifier(database.username)} nologin`)
        await endConnections(client, database)
        if (owner !== undefined)
          await client.query(`drop database ${escapeIdentifier(database.physical_name)} with (force)`)
        await dropRole(client, database, role)
      })
    },

    async close() {
      await pool?.end()
    },
  }
}

/** Options in the URL take precedence over others. */
function withOptions(url: string, options: string): string {
  const target = new URL(url)
  target.searchParams.set('options', options)
  return target.href
}
