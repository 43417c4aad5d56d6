import { escapeIdentifier, escapeLiteral, type ClientBase } from 'pg'
import { errorCodeOf } from '../errors'
import { markerOf, type ServerDatabase } from './databaseServer'
import { CHANGE_MS, SAFE_SEARCH_PATH, type PostgresConnections } from './postgresConnections'

/** For each role. A plugin's pool usually has 10 connections. The platform's own are reserved (embeddedPostgres.ts). */
const CONNECTION_LIMIT = 20
/** Ends runaway statements and abandoned transactions. A role may override these for itself. */
const TIMEOUTS = { statement_timeout: '5min', idle_in_transaction_session_timeout: '5min' }
/** Other settings that a database's owner may set for all its sessions, and that would hinder an administrator's. */
const ADMIN_SESSION_OPTIONS = `${SAFE_SEARCH_PATH} -c role=none -c default_transaction_read_only=off -c statement_timeout=0 -c idle_session_timeout=0 -c idle_in_transaction_session_timeout=0 -c local_preload_libraries=`
const LOCK_NOT_AVAILABLE = '55P03'
/** How long to wait for other transactions' locks before they are ended. */
const LOCK_MS = 2000
/** Clients may reconnect and lock again at once. */
const LOCK_TRIES = 5
/** A session that is told to end first ends what it is doing. */
const TERMINATE_MS = 5000

interface Role {
  oid: string
  hasMarker: boolean
}

/** The login role of a database; undefined if the server has none of that name. */
export async function roleOf(client: ClientBase, database: ServerDatabase): Promise<Role | undefined> {
  const { rows } = await client.query<{ oid: string; mark: string | null }>(
    "select oid, shobj_description(oid, 'pg_authid') as mark from pg_roles where rolname = $1",
    [database.username],
  )
  return rows[0] && { oid: rows[0].oid, hasMarker: rows[0].mark === markerOf(database) }
}

/** Creates the role with its marker, without the right to log in. @param isSuperuser whether the administrator is */
export async function createRole(
  client: ClientBase,
  database: ServerDatabase,
  verifier: string,
  isSuperuser: boolean,
): Promise<void> {
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

/** Ends all connections of a database's role, and waits for each that it has ended. */
export async function endConnections(client: ClientBase, { username }: ServerDatabase): Promise<void> {
  await client.query('select pg_terminate_backend(pid, $2) from pg_stat_activity where usename = $1', [
    username,
    TERMINATE_MS,
  ])
}

/**
 * Changes the role of a database. Its own sessions may change it at the same time, or lock it in an open transaction:
 * they are ended.
 * @param change what follows the name in `alter role`
 */
export async function alterRole(client: ClientBase, database: ServerDatabase, change: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query('begin')
      await client.query(`set local lock_timeout = ${LOCK_MS}`)
      await client.query(`alter role ${escapeIdentifier(database.username)} ${change}`)
      await client.query('commit')
      return
    } catch (error) {
      await client.query('rollback')
      if (!isContended(error) || tries === LOCK_TRIES) throw error
      await endConnections(client, database)
    }
  }
}

/** PostgreSQL has no code of its own for a row of the catalog that another session has changed. */
const isContended = (error: unknown): boolean =>
  errorCodeOf(error) === LOCK_NOT_AVAILABLE ||
  (error instanceof Error && error.message === 'tuple concurrently updated')

/** Also revokes the role's privileges in other users' databases, which would prevent its removal. */
export async function dropRole(
  connections: PostgresConnections,
  client: ClientBase,
  database: ServerDatabase,
  { oid }: Role,
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct datname as name from pg_shdepend join pg_database on pg_database.oid = dbid
     where refclassid = 'pg_authid'::regclass and refobjid = $1`,
    [oid],
  )
  const role = escapeIdentifier(database.username)
  for (const { name } of rows) await dropOwned(connections, client, name, role)
  await client.query(`drop role ${role}`)
}

/** The owner of that database may hold locks forever: their transactions are ended. */
async function dropOwned(
  connections: PostgresConnections,
  client: ClientBase,
  name: string,
  role: string,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await connections.runIn(name, `${ADMIN_SESSION_OPTIONS} -c lock_timeout=${LOCK_MS}`, CHANGE_MS, async (other) => {
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
