import { Kysely, Migrator, PostgresDialect, sql, type Migration } from 'kysely'
import { Pool, type ClientBase } from 'pg'
import { AppError, errorCodeOf, StartError } from '../errors'
import { PostgresClient } from '../postgresClient'
import { boundPool, ConnectionFailure, READ_ONLY } from './boundedPool'
import * as accounts from './migrations/0001_accounts'
import * as deployments from './migrations/0002_deployments'
import * as observations from './migrations/0003_observations'
import * as databases from './migrations/0004_databases'
import * as activity from './migrations/0005_activity'
import * as downloadTickets from './migrations/0006_download_tickets'
import * as dashboard from './migrations/0007_dashboard'
import * as instanceCare from './migrations/0008_instance_care'
import * as directorySeen from './migrations/0009_directory_seen'
import * as wrongCodes from './migrations/0010_wrong_codes'
import * as activityEntry from './migrations/0011_activity_entry'
import * as notifications from './migrations/0012_notifications'
import * as consoles from './migrations/0013_consoles'
import * as replicas from './migrations/0014_replicas'
import * as access from './migrations/0015_access'
import * as authenticators from './migrations/0016_authenticators'
import * as openId from './migrations/0017_openid'
import * as previousSignIns from './migrations/0018_previous_sign_ins'
import * as inviteMakers from './migrations/0019_invite_makers'
import * as activityFailures from './migrations/0020_activity_failures'
import * as ownerIndexes from './migrations/0021_owner_indexes'
import * as directoryMounted from './migrations/0022_directory_mounted'
import * as mountsMounted from './migrations/0023_mounts_mounted'
import type { State } from './schema'

export type Db = Kysely<State>

/** In order. A number is never reused, and a released migration never changes. */
const migrations: Record<string, Migration> = {
  '0001_accounts': accounts,
  '0002_deployments': deployments,
  '0003_observations': observations,
  '0004_databases': databases,
  '0005_activity': activity,
  '0006_download_tickets': downloadTickets,
  '0007_dashboard': dashboard,
  '0008_instance_care': instanceCare,
  '0009_directory_seen': directorySeen,
  '0010_wrong_codes': wrongCodes,
  '0011_activity_entry': activityEntry,
  '0012_notifications': notifications,
  '0013_consoles': consoles,
  '0014_replicas': replicas,
  '0015_access': access,
  '0016_authenticators': authenticators,
  '0017_openid': openId,
  '0018_previous_sign_ins': previousSignIns,
  '0019_invite_makers': inviteMakers,
  '0020_activity_failures': activityFailures,
  '0021_owner_indexes': ownerIndexes,
  '0022_directory_mounted': directoryMounted,
  '0023_mounts_mounted': mountsMounted,
}

/** Limit for a connection or a result, so that an outage is reported within five seconds. */
const QUERY_TIMEOUT_MS = 4000

/** The target of a PostgreSQL connection, however its URL is written. */
export interface DatabaseIdentity {
  /** The system identifier, unique to a server. */
  server: string
  database: string
  role: string
}

export interface StateDatabase {
  db: Db
  /** For locks, which need a dedicated connection. */
  pool: Pool
  close(): Promise<void>
}

/**
 * Connects to the platform's database and migrates its schema. Kysely's migration lock allows several platforms to
 * start at once.
 * @param url the PostgreSQL URL of a user who may create tables
 * @param queryTimeoutMs shorter in tests
 * @throws StartError when the server is unreachable, refuses, or has the schema of a newer version
 */
export async function openStateDatabase(url: string, queryTimeoutMs = QUERY_TIMEOUT_MS): Promise<StateDatabase> {
  await migrateState(url)
  const pool = openStatePool(url, queryTimeoutMs)
  const db: Db = new Kysely<State>({ dialect: new PostgresDialect({ pool: boundPool(pool, queryTimeoutMs) }) })
  return { db, pool, close: () => db.destroy() }
}

/** Connections to the platform's database, which is migrated already. */
export function openStatePool(url: string, queryTimeoutMs = QUERY_TIMEOUT_MS): Pool {
  const pool = new Pool({
    ...connectionTo(url),
    max: 20,
    query_timeout: queryTimeoutMs,
    idleTimeoutMillis: 60_000,
  })
  ignoreConnectionErrors(pool)
  return pool
}

const connectionTo = (url: string) => ({
  connectionString: url,
  connectionTimeoutMillis: QUERY_TIMEOUT_MS,
  keepAlive: true,
  Client: PostgresClient,
})

/** @returns undefined if the server does not reveal it, as some hosted ones */
export async function identifyDatabase(connection: Pick<ClientBase, 'query'>): Promise<DatabaseIdentity | undefined> {
  try {
    const { rows } = await connection.query<DatabaseIdentity>(
      'select system_identifier::text as server, current_database() as database, current_user as role from pg_control_system()',
    )
    return rows[0]
  } catch (error) {
    // Insufficient privilege, undefined function, feature not supported.
    if (['42501', '42883', '0A000'].includes(errorCodeOf(error) ?? '')) return undefined
    throw error
  }
}

/**
 * A broken connection fails its query and is replaced. Without an error listener it would end the process: the pool
 * needs one for idle connections, and each client one while it is checked out.
 */
export function ignoreConnectionErrors(pool: Pool): void {
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
}

/**
 * Migrates the state in a database to the newest schema, without a query timeout.
 * @throws StartError as `openStateDatabase`
 */
export async function migrateState(url: string): Promise<void> {
  const pool = new Pool({ ...connectionTo(url), max: 2 })
  ignoreConnectionErrors(pool)
  const db = new Kysely<State>({ dialect: new PostgresDialect({ pool }) })
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest()
  await db.destroy()
  if (error) throw new StartError([connectionErrorText(url, error)])
}

/** Explains in one line, for the operator, why the database could not be opened. */
export function connectionErrorText(url: string, error: unknown): string {
  const { hostname, port, pathname } = new URL(url)
  const server = `PostgreSQL at ${hostname}:${port || '5432'}`
  const code = errorCodeOf(error)
  if (code === '28P01' || code === '28000') return `${server} refuses the user or password of QUARTERDECK_STATE_URL`
  if (code === '3D000')
    return `${server} has no database "${pathname.slice(1)}": create it or correct QUARTERDECK_STATE_URL`
  if (code === '42501')
    return `${server}: the user of QUARTERDECK_STATE_URL may not create tables in "${pathname.slice(1)}"`
  if (isPostgresUnreachable(error)) return `${server} cannot be reached: start it or correct QUARTERDECK_STATE_URL`
  const message = error instanceof Error ? error.message : String(error)
  if (message.includes('corrupted migrations'))
    return `${server} holds the state of a newer Quarterdeck: install that version, or name another database`
  return `${server} could not be prepared: ${message}`
}

/** Whether an error means that PostgreSQL is down, starting or stopping, rather than that a query is wrong. */
export function isPostgresUnreachable(error: unknown): boolean {
  const code = errorCodeOf(error) ?? ''
  if (error instanceof AggregateError) return error.errors.some(isPostgresUnreachable)
  // Errors of the unix socket of a stopped server, or of a hung one whose queue is full.
  if (['ENOENT', 'EAGAIN'].includes(code) && (error as NodeJS.ErrnoException).syscall === 'connect') return true
  if (/^(?:ECONN|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|57P0|08|53300)/.test(code)) return true
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|timeout expired|is not queryable|Query read timeout/.test(
      error.message,
    )
  )
}

/** PostgreSQL's codes of a transaction that it ended because of another one (a failed serialization, a deadlock). */
const ENDED_FOR_ANOTHER = ['40001', '40P01']

/**
 * Whether PostgreSQL refuses what it is asked because of its state or its settings, not because a query is wrong: it is
 * read-only (a standby, or a provider's way to handle a full disk), its user has another password or lost a right, the
 * database is missing or locked, memory is short, its disk fails, or a time-out of its own ended the query.
 */
export function isPostgresRefusing(error: unknown): boolean {
  const code = errorCodeOf(error) ?? ''
  return code === READ_ONLY || /^(?:28|3D000|42501|53|55000|55P03|57014|58)/.test(code)
}

/**
 * Converts a failed query to an AppError (DISK_FULL, CONFLICT, UNAVAILABLE), or returns the error unchanged if it is a
 * bug.
 */
export function stateFailure(error: unknown): unknown {
  if (error instanceof ConnectionFailure) {
    const failure = stateFailure(error.cause)
    return failure instanceof AppError ? failure : refused()
  }
  if (isDiskFull(error)) return new AppError('DISK_FULL', 'The disk of the server is full. Nothing was changed.')
  if (ENDED_FOR_ANOTHER.includes(errorCodeOf(error) ?? ''))
    return new AppError('CONFLICT', 'Another change was made at the same moment. Nothing was changed here: try again.')
  // Every row that an insert refers to was read before, so it was deleted meanwhile.
  if (isMissingReference(error))
    return new AppError('CONFLICT', 'Something that this call uses was deleted at the same moment. Try again.')
  if (isPostgresUnreachable(error))
    return new AppError('UNAVAILABLE', 'The platform’s database does not answer. Try again in a moment.')
  return isPostgresRefusing(error) ? refused() : error
}

const refused = () =>
  new AppError('UNAVAILABLE', 'The platform’s database refuses the call. The platform’s log has the reason.')

/** PostgreSQL 53100, or the errno of a full disk or quota. PostgreSQL has no code for a quota. */
export function isDiskFull(error: unknown): boolean {
  if (['53100', 'ENOSPC', 'EDQUOT'].includes(errorCodeOf(error) ?? '')) return true
  return error instanceof Error && error.message.endsWith('Disk quota exceeded')
}

/** Whether an insert violated a unique constraint (PostgreSQL 23505). */
export function isDuplicate(error: unknown): boolean {
  return errorCodeOf(error) === '23505'
}

/** Whether an insert referred to a row that does not exist (PostgreSQL 23503). */
export function isMissingReference(error: unknown): boolean {
  return errorCodeOf(error) === '23503'
}

/** @throws Error if nothing can be stored, as on a standby, or while a provider has made a full server read-only */
export async function checkWritable(db: Db): Promise<void> {
  // Locks no row. PostgreSQL refuses it in a read-only session, and if the user may not write.
  await db
    .selectFrom('heartbeats')
    .select(sql`1`.as('row'))
    .where(sql<boolean>`false`)
    .forUpdate()
    .execute()
}
