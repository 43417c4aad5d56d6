import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { PostgresPool } from 'kysely'
import type { Pool, PoolClient, QueryConfig } from 'pg'

/** What pg fails a query with whose answer does not come in time. */
const TIMED_OUT = 'Query read timeout'
/** A query gets at least this long, however long its connection was waited for. In milliseconds. */
const LEAST_MS = 100
/** How long a query that was cancelled may take to end before its connection is closed nevertheless. In milliseconds. */
const CANCEL_MS = 5000
/** Of a CancelRequest (PostgreSQL protocol, "Message Formats"). */
const CANCEL_CODE = 80_877_102

/**
 * A pool for Kysely whose callers wait for at most `answerMs`, for a connection and the first answer together, and then for as long for
 * each further answer. pg gives up waiting and leaves the query running: such a query is cancelled, and its connection is closed and
 * not given to the next caller, who would wait for the same query. Until then it counts against the pool, so a server that answers
 * nobody (a locked table) does not collect connections.
 * @param answerMs milliseconds
 */
export function boundPool(pool: Pool, answerMs: number): PostgresPool {
  return {
    async connect() {
      const deadline = performance.now() + answerMs
      const client = await pool.connect()
      let wait = Math.max(LEAST_MS, deadline - performance.now())
      let ended: Promise<unknown> | undefined

      async function query(text: string, values: unknown[]): Promise<unknown> {
        // The rollback of a transaction would wait for the query that hangs.
        if (ended) throw new Error(TIMED_OUT)
        const config: QueryConfig & { query_timeout: number } = { text, values, query_timeout: wait }
        wait = answerMs
        try {
          return await client.query(config)
        } catch (error) {
          if ((error as Error).message === TIMED_OUT) ended = endOfQuery(client)
          throw error
        }
      }

      return {
        query: query as Awaited<ReturnType<PostgresPool['connect']>>['query'],
        release() {
          if (ended) void ended.then(() => client.release(true))
          else client.release()
        },
      }
    },
    end: () => pool.end(),
  }
}

/** Cancels what a connection is at. @returns when that has ended, or may never end. */
async function endOfQuery(client: PoolClient): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    client.once('drain', resolve)
    client.once('end', resolve)
  })
  cancel(client)
  await Promise.race([ended, delay(CANCEL_MS, undefined, { ref: false })])
}

/** Asks the server, by a connection of its own as the protocol wants it, to cancel the query of another connection. */
function cancel(client: PoolClient): void {
  // pg has them, its types do not. A pooler between may have sent none.
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
  // Best effort: the server does not answer, and one that is away has nothing to cancel.
  socket.on('error', () => undefined)
  socket.setTimeout(CANCEL_MS, () => socket.destroy())
  socket.resume().end(request)
}
