import { Pool, type ClientBase, type QueryConfig } from 'pg'
import type { Logger } from 'pino'
import { AppError, errorCodeOf } from '../errors'
import type { EndSessions } from '../postgres/postgresSessions'
import { PostgresClient } from '../postgresClient'
import {
  ignoreConnectionErrors,
  isDiskFull,
  isPostgresRefusing,
  isPostgresUnreachable,
  type DatabaseIdentity,
} from '../state/db'
import { revokePublicConnect } from './publicAccess'

/** An outage is reported within five seconds. */
const CONNECT_MS = 3500
/** Copying the template on a slow disk takes seconds. */
export const CHANGE_MS = 30_000
/** Time for the server to end a statement at its time-out. */
const CANCEL_MS = 1000
/** The owner of a database may set a search path with their own functions, which an administrator must not call. */
export const SAFE_SEARCH_PATH = '-c search_path=pg_catalog'

export interface PostgresParts {
  /** An administrator's URL. Called for each new connection; may throw an AppError. */
  url: () => Promise<string>
  /** The name of the server in messages: `The embedded PostgreSQL`, `The PostgreSQL server of QUARTERDECK_SQL_URL`. */
  title: string
  /** What to do when the server is down, as a sentence. */
  remedy: string
  /** Ends sessions, including those that do not react. Undefined: as far as the server can. */
  endSessions?: EndSessions
  /** The platform's own database. If it is on this server, only its role may connect to it. */
  state: DatabaseIdentity | undefined
  log: Logger
}

export interface PostgresConnections {
  /**
   * Runs work on a pooled connection of the administrator.
   * @throws AppError for operators, UNAVAILABLE or DISK_FULL; other errors than the server's are thrown unchanged
   */
  run<Result>(work: (client: ClientBase, administrator: Administrator) => Promise<Result>): Promise<Result>
  /**
   * Runs work on a connection of its own to a database.
   * @param options server settings of the session, in the format of the command line of `postgres`
   */
  runIn<Result>(
    database: string,
    options: string,
    timeoutMs: number,
    work: (client: ClientBase) => Promise<Result>,
  ): Promise<Result>
  /** Ends sessions. It returns before they have ended: call it until they have. */
  endSessions(client: ClientBase, pids: number[]): Promise<void>
  close(): Promise<void>
}

interface Administrator {
  isSuperuser: boolean
}

/** Connections of the platform's administrator to a PostgreSQL server. The first one prepares the server. */
export function createPostgresConnections(parts: PostgresParts): PostgresConnections {
  const { url, title, remedy, state, log } = parts
  let pool: Pool | undefined
  let prepared: Promise<Administrator> | undefined

  async function openPool(): Promise<Pool> {
    const connectionString = await url()
    if (!pool) {
      pool = new Pool({
        Client: PostgresClient,
        // The server ends a statement that is given up here: it would hold the connection, and its locks.
        connectionString: withOptions(connectionString, `${SAFE_SEARCH_PATH} -c statement_timeout=${CHANGE_MS}`),
        max: 8,
        connectionTimeoutMillis: CONNECT_MS,
        query_timeout: CHANGE_MS + CANCEL_MS,
        idleTimeoutMillis: 10_000,
        keepAlive: true,
      })
      ignoreConnectionErrors(pool)
    }
    return pool
  }

  /** Runs once, and again after a failure. */
  async function prepare(client: ClientBase): Promise<Administrator> {
    try {
      const { rows: me } = await client.query<{ super: boolean }>(
        'select rolsuper as super from pg_roles where rolname = current_user',
      )
      await revokePublicConnect(client, state, log)
      return { isSuperuser: me[0]?.super ?? false }
    } catch (error) {
      prepared = undefined
      throw error
    }
  }

  return {
    async run(work) {
      let failed = true
      let client
      try {
        client = await (await openPool()).connect()
        // A server that hangs keeps its connections open. Changes have more time than it takes to notice that. The
        // types lack the option.
        await client.query({ text: 'select 1', query_timeout: CONNECT_MS } as QueryConfig)
        const administrator = await (prepared ??= prepare(client))
        const result = await work(client, administrator)
        failed = false
        return result
      } catch (error) {
        throw postgresFailure(error, { title, remedy, isConnected: client !== undefined })
      } finally {
        // After a failure the connection may be broken or in a transaction, so it is closed.
        client?.release(failed)
      }
    },

    async runIn(database, options, timeoutMs, work) {
      const target = new URL(await url())
      target.pathname = `/${encodeURIComponent(database)}`
      const client = new PostgresClient({
        connectionString: withOptions(target.href, options),
        connectionTimeoutMillis: CONNECT_MS,
        query_timeout: timeoutMs,
      })
      client.on('error', () => undefined)
      try {
        await client.connect()
        return await work(client)
      } finally {
        await client.end().catch(() => undefined)
      }
    },

    async endSessions(client, pids) {
      if (parts.endSessions) await parts.endSessions(pids)
      else await client.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [pids])
    },

    async close() {
      await pool?.end()
    },
  }
}

function postgresFailure(
  error: unknown,
  { title, remedy, isConnected }: { title: string; remedy: string; isConnected: boolean },
): unknown {
  if (error instanceof AppError) return error
  const code = errorCodeOf(error)
  if (isPostgresUnreachable(error)) return new AppError('UNAVAILABLE', `${title} does not answer. ${remedy}`)
  if (code === '28P01' || code === '28000')
    return new AppError('UNAVAILABLE', `${title} rejects the configured user or password. Correct them.`)
  if (code === '3D000')
    return new AppError('UNAVAILABLE', `${title} does not have the database in its URL. Create it or correct the URL.`)
  if (code === '42501')
    return new AppError(
      'UNAVAILABLE',
      `${title} does not allow its administrator to create databases and roles. Grant that user CREATEDB and CREATEROLE.`,
    )
  // A full lock table has this code too: see postgres/lockWatch.ts.
  if (code === '53200') return new AppError('UNAVAILABLE', `${title} is out of memory. Try again in a moment.`)
  if (code === '57014') return new AppError('UNAVAILABLE', `${title} did not finish in time. Try again in a moment.`)
  if (isDiskFull(error)) return new AppError('DISK_FULL', `${title} has no disk space left. Nothing was changed.`)
  // A connection may be refused for other reasons, such as a certificate that has expired.
  if (!isConnected || isPostgresRefusing(error)) {
    const refused = new AppError('UNAVAILABLE', `${title} refuses what it is asked. The platform’s log has the reason.`)
    return Object.assign(refused, { cause: error })
  }
  return error
}

/** Options in the URL take precedence over others. */
function withOptions(url: string, options: string): string {
  const target = new URL(url)
  target.searchParams.set('options', options)
  return target.href
}
