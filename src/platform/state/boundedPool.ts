import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { PostgresPool } from 'kysely'
import type { Pool, PoolClient, QueryConfig } from 'pg'
import { errorCodeOf } from '../errors'

/** The message of pg's error for a query that exceeds `query_timeout`. */
const TIMED_OUT = 'Query read timeout'
/** Minimum timeout of the first query, however long the wait for a connection was. */
const LEAST_MS = 100
/** A connection is closed this long after the cancellation of its query, even if the query has not ended. */
const CANCEL_MS = 5000
/** PostgreSQL's code of a write in a read-only session. */
export const READ_ONLY = '25006'
/** The query with which Kysely begins a transaction. */
const BEGIN = 'begin'
/** The request code of a CancelRequest (PostgreSQL protocol, "Message Formats"). */
const CANCEL_CODE = 80_877_102

/**
 * No connection could be opened, for whatever reason: the server's certificate has expired, or it wants the password
 * without encryption.
 */
export class ConnectionFailure extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'ConnectionFailure'
  }
}

/**
 * Creates a pool for Kysely with a timeout for each query. The timeout of the first query includes the wait for a
 * connection.
 *
 * After a timeout pg stops waiting, but the server still runs the query. So the query is cancelled, and its connection
 * is closed instead of reused, because the next query on it would have to wait. The connection is released once the
 * query has ended and counts as in use until then, so that the number of connections stays bounded while a table is
 * locked.
 *
 * The server ends a transaction whose client has sent nothing for two such timeouts: a replica's machine may vanish, or
 * its process be suspended, in the middle of one, and its locks would block all others for hours.
 *
 * A connection that is read-only is closed as well: it may lead to a standby, or keep a setting of the server that has
 * changed since.
 * @param timeoutMs timeout in milliseconds
 * @throws from queries, Error with the message of pg after a timeout; further queries on that connection fail at once;
 * `ConnectionFailure` from `connect`
 */
export function boundPool(pool: Pool, timeoutMs: number): PostgresPool {
  return {
    async connect() {
      const deadline = performance.now() + timeoutMs
      const client = await pool.connect().catch((error: unknown) => {
        throw new ConnectionFailure(error)
      })
      let wait = Math.max(LEAST_MS, deadline - performance.now())
      let ended: Promise<unknown> | undefined
      let isReadOnly = false

      async function query(text: string, values: unknown[]): Promise<unknown> {
        // Kysely rolls back after a failure: the rollback would wait for the query that has timed out.
        if (ended) throw new Error(TIMED_OUT)
        // Set in the same message. Some poolers (PgBouncer) refuse the setting as a connection parameter.
        const sent =
          text === BEGIN ? `${BEGIN}; set local idle_in_transaction_session_timeout = ${2 * timeoutMs}` : text
        const config: QueryConfig & { query_timeout: number } = { text: sent, values, query_timeout: wait }
        wait = timeoutMs
        try {
          return await client.query(config)
        } catch (error) {
          if ((error as Error).message === TIMED_OUT) ended = endOfQuery(client)
          isReadOnly ||= errorCodeOf(error) === READ_ONLY
          throw error
        }
      }

      return {
        query: query as Awaited<ReturnType<PostgresPool['connect']>>['query'],
        release() {
          if (ended) void ended.then(() => client.release(true))
          else client.release(isReadOnly)
        },
      }
    },
    end: () => pool.end(),
  }
}

/** Cancels the current query of a connection. Resolves when the query has ended, or after CANCEL_MS. */
async function endOfQuery(client: PoolClient): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    client.once('drain', resolve)
    client.once('end', resolve)
  })
  cancel(client)
  await Promise.race([ended, delay(CANCEL_MS, undefined, { ref: false })])
}

/** Sends a CancelRequest for the current query. The protocol requires a separate connection for it. */
function cancel(client: PoolClient): void {
  // These fields are missing in pg's types. Behind a connection pooler the process id and the key may be unknown.
  const { host, port, processID, secretKey } = client as PoolClient & {
    host: string
    port: number
    processID: number | null
    secretKey: number | null
  }
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return
  const request = Buffer.alloc(16)
  for (const [index, number] of [request.length, CANCEL_CODE, processID, secretKey].entries())
    request.writeInt32BE(number, 4 * index)
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
  // Best effort: the server sends no response, and a server that is down has no query to cancel.
  socket.on('error', () => undefined)
  socket.setTimeout(CANCEL_MS, () => socket.destroy())
  socket.resume().end(request)
}
