import { setTimeout as delay } from 'node:timers/promises'
import { escapeIdentifier, escapeLiteral, type ClientBase } from 'pg'
import { AppError, errorCodeOf } from '../errors'
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
/** Time for terminated sessions to roll back and end. */
const TERMINATE_MS = 5000
const POLL_MS = 50
const OBJECT_IN_USE = '55006'
/** PostgreSQL waits 5 s each time for the sessions of a database to end. */
const DROP_TRIES = 4

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

/** Ends all connections of a database's role, and waits until each has ended, except for those that do not react. */
export async function endConnections(
  connections: PostgresConnections,
  client: ClientBase,
  { username }: ServerDatabase,
): Promise<void> {
  for (const deadline = performance.now() + TERMINATE_MS; performance.now() < deadline; await delay(POLL_MS)) {
    const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity where usename = $1', [
      username,
    ])
    if (rows.length === 0) return
    await connections.endSessions(client, pidsOf(rows))
  }
}

const pidsOf = (rows: { pid: number }[]) => rows.map(({ pid }) => pid)

/**
 * Changes the role of a database. Ends its own sessions if they change it at the same time or lock it in an open
 * transaction.
 * @param change what follows the name in `alter role`
 */
export async function alterRole(
  connections: PostgresConnections,
  client: ClientBase,
  database: ServerDatabase,
  change: string,
): Promise<void> {
  const statement = `alter role ${escapeIdentifier(database.username)} ${change}`
  await alterContended(client, statement, () => endConnections(connections, client, database))
}

/** @param endHolders ends the sessions that may hold the lock */
async function alterContended(client: ClientBase, statement: string, endHolders: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query('begin')
      await client.query(`set local lock_timeout = ${LOCK_MS}`)
      await client.query(statement)
      await client.query('commit')
      return
    } catch (error) {
      await client.query('rollback')
      if (!isContended(error) || tries === LOCK_TRIES) throw error
      await endHolders()
    }
  }
}

/** PostgreSQL has no code of its own for a row of the catalog that another session has changed. */
const isContended = (error: unknown): boolean =>
  errorCodeOf(error) === LOCK_NOT_AVAILABLE ||
  (error instanceof Error && error.message === 'tuple concurrently updated')

/**
 * Drops the database. Since version 15, PostgreSQL first waits until every session of the server has closed the
 * database's files, which a session does between statements and at certain points of most. After 5 seconds, and every 5
 * seconds from then on, it reports a session that does not; such sessions are ended (`COPY … FROM STDIN`, a client that
 * does not read its result, long loops such as that of `position`).
 * @throws AppError UNAVAILABLE if sessions of the database do not end
 */
export async function dropDatabase(
  connections: PostgresConnections,
  client: ClientBase,
  { physical_name }: ServerDatabase,
): Promise<void> {
  const name = escapeIdentifier(physical_name)
  // PostgreSQL drops no template database, and the owner may have made it one. After an interrupted drop it drops the
  // database and changes nothing of it.
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1 and datistemplate', [
    physical_name,
  ])
  if (rowCount) await client.query(`alter database ${name} is_template false`)
  // Best effort: the next notice tries again.
  const onNotice = ({ routine, message = '' }: { routine?: string; message?: string }) => {
    const pid = /\d+/.exec(message)?.[0]
    if (routine !== 'WaitForProcSignalBarrier' || pid === undefined) return
    connections.run((other) => connections.endSessions(other, [Number(pid)])).catch(() => undefined)
  }
  client.on('notice', onNotice)
  try {
    await client.query('set client_min_messages = log')
    await dropInUse(connections, client, physical_name)
    await client.query('reset client_min_messages')
  } finally {
    client.off('notice', onNotice)
  }
}

async function dropInUse(connections: PostgresConnections, client: ClientBase, name: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query(`drop database ${escapeIdentifier(name)} with (force)`)
      return
    } catch (error) {
      if (errorCodeOf(error) !== OBJECT_IN_USE) throw error
      if (tries === DROP_TRIES)
        throw new AppError(
          'UNAVAILABLE',
          `A session of the database "${name}" does not end. End it on the server; the database is deleted after that.`,
        )
    }
    const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity where datname = $1', [name])
    await connections.endSessions(client, pidsOf(rows))
  }
}

/**
 * Also revokes the role's privileges in other users' databases and on them, which would prevent its removal.
 * @throws AppError UNAVAILABLE while one of them is being deleted
 */
export async function dropRole(
  connections: PostgresConnections,
  client: ClientBase,
  database: ServerDatabase,
  { oid }: Role,
): Promise<void> {
  const { rows } = await client.query<{ name: string; isOpen: boolean; isInvalid: boolean }>(
    `select distinct datname as name, datallowconn as "isOpen", datconnlimit = -2 as "isInvalid" from pg_shdepend join pg_database
       on pg_database.oid = case classid when 'pg_database'::regclass then objid else dbid end
     where refclassid = 'pg_authid'::regclass and refobjid = $1`,
    [oid],
  )
  const role = escapeIdentifier(database.username)
  const endSessions = () => endTransactions(client, rows)
  for (const { name, isOpen, isInvalid } of rows) {
    // Its drop was interrupted: PostgreSQL allows nothing but to drop it.
    if (isInvalid)
      throw new AppError(
        'UNAVAILABLE',
        `The database "${name}", in which "${database.username}" has rights, is being deleted. Try again after that.`,
      )
    const allow = (isAllowed: boolean) =>
      alterContended(client, `alter database ${escapeIdentifier(name)} allow_connections ${isAllowed}`, endSessions)
    if (!isOpen) await allow(true)
    await dropOwned(connections, name, role, endSessions).finally(() => isOpen || allow(false))
  }
  await client.query(`drop role ${role}`)
}

async function dropOwned(
  connections: PostgresConnections,
  name: string,
  role: string,
  endHolders: () => Promise<void>,
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
      if (!isContended(error) || tries === LOCK_TRIES) throw error
      await endHolders()
    }
  }
}

/** The owners of these databases may hold locks forever. */
async function endTransactions(client: ClientBase, databases: { name: string }[]): Promise<void> {
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = any($1) and backend_type = 'client backend' and xact_start is not null",
    [databases.map(({ name }) => name)],
  )
}
