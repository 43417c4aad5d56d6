import { Kysely, Migrator, PostgresDialect, type Migration } from 'kysely'
import { Pool, type ClientBase } from 'pg'
import { AppError, errorCodeOf, StartError } from '../errors'
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
import type { State } from './schema'

export type Db = Kysely<State>

/** In order; a number is never used again and a migration that has landed never changes. */
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
}

/** So long a request waits for a connection or an answer: a server that is away is said within five seconds. */
const ANSWER_MS = 4000

/** Where a connection of PostgreSQL leads, however its URL is written. */
export interface Place {
  /** The same for all databases of a server, and only for those. */
  server: string
  database: string
  role: string
}

export interface OpenState {
  db: Db
  /** For what needs a connection of its own (locks). */
  pool: Pool
  close(): Promise<void>
}

/**
 * Connects to the platform's own state and brings its tables up to date. Migrations run under a lock, so several
 * platforms may start at the same time.
 * @param url of a PostgreSQL database whose user may create tables.
 * @throws StartError when the server cannot be reached, refuses, or holds the state of a newer version.
 */
export async function openState(url: string): Promise<OpenState> {
  const connection = { connectionString: url, connectionTimeoutMillis: ANSWER_MS, keepAlive: true }
  await migrate(new Pool({ ...connection, max: 2 }), url)
  const pool = new Pool({ ...connection, max: 20, query_timeout: ANSWER_MS, idleTimeoutMillis: 60_000 })
  surviveBreaks(pool)
  const db: Db = new Kysely<State>({ dialect: new PostgresDialect({ pool }) })
  return { db, pool, close: () => db.destroy() }
}

/** @returns undefined where the server does not say (hosted ones may not) */
export async function placeOf(connection: Pick<ClientBase, 'query'>): Promise<Place | undefined> {
  try {
    const { rows } = await connection.query<Place>(
      'select system_identifier::text as server, current_database() as database, current_user as role from pg_control_system()',
    )
    return rows[0]
  } catch (error) {
    // Not allowed, or not there.
    if (['42501', '42883', '0A000'].includes(errorCodeOf(error) ?? '')) return undefined
    throw error
  }
}

/**
 * A connection that breaks fails its query and is replaced at the next. Without listeners it would end the process: one
 * at the pool for connections that wait in it, one at each for when it is out.
 */
function surviveBreaks(pool: Pool): void {
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
}

/** On connections of its own, because a migration may take longer than a request may wait. */
async function migrate(pool: Pool, url: string): Promise<void> {
  surviveBreaks(pool)
  const db = new Kysely<State>({ dialect: new PostgresDialect({ pool }) })
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest()
  await db.destroy()
  if (error) throw new StartError([whyNotOpened(url, error)])
}

/** Why the state could not be opened, in a line for who starts the platform. */
export function whyNotOpened(url: string, error: unknown): string {
  const { hostname, port, pathname } = new URL(url)
  const server = `PostgreSQL at ${hostname}:${port || '5432'}`
  const code = errorCodeOf(error)
  if (code === '28P01' || code === '28000') return `${server} refuses the user or password of QUARTERDECK_STATE_URL`
  if (code === '3D000')
    return `${server} has no database "${pathname.slice(1)}": create it or correct QUARTERDECK_STATE_URL`
  if (code === '42501')
    return `${server}: the user of QUARTERDECK_STATE_URL may not create tables in "${pathname.slice(1)}"`
  if (isUnreachable(error)) return `${server} cannot be reached: start it or correct QUARTERDECK_STATE_URL`
  const message = error instanceof Error ? error.message : String(error)
  if (message.includes('corrupted migrations'))
    return `${server} holds the state of a newer Quarterdeck: install that version, or name another database`
  return `${server} could not be prepared: ${message}`
}

/** Whether an error says that PostgreSQL is not there (or going, or starting), rather than that a query was wrong. */
export function isUnreachable(error: unknown): boolean {
  const code = errorCodeOf(error) ?? ''
  if (error instanceof AggregateError) return error.errors.some(isUnreachable)
  // Of a unix socket whose server is away.
  if (code === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'connect') return true
  if (/^(?:ECONN|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|57P0[123]|08|53300)/.test(code))
    return true
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|timeout expired|is not queryable|Query read timeout/.test(
      error.message,
    )
  )
}

/** Turns the failure of a query into what the caller may be told, or gives it back when it is a bug. */
export function stateFailure(error: unknown): unknown {
  if (isDiskFull(error)) return new AppError('DISK_FULL', 'The disk of the server is full. Nothing was changed.')
  return isUnreachable(error)
    ? new AppError('UNAVAILABLE', 'The platform’s database does not answer. It is tried again with the next call.')
    : error
}

/** Whether a query failed because the disk of the server is full (PostgreSQL 53100). */
export function isDiskFull(error: unknown): boolean {
  return ['53100', 'ENOSPC', 'EDQUOT'].includes(errorCodeOf(error) ?? '')
}

/** Whether an insert failed because a unique value is there already (PostgreSQL 23505). */
export function isDuplicate(error: unknown): boolean {
  return errorCodeOf(error) === '23505'
}
