import { setTimeout as delay } from 'node:timers/promises'
import { escapeIdentifier, type ClientBase } from 'pg'
import type { Logger } from 'pino'
import { PostgresClient } from '../postgresClient'

const INTERVAL_MS = 1000
/** The server has room for about 24,000 (`max_locks_per_transaction`). A dump of a database takes one for each table. */
const MAX_LOCKS = 10_000
/** A role whose sessions were ended that often, each time within FORGET_MS of the last, may no longer log in. */
const MAX_ENDS = 3
const FORGET_MS = 10 * 60_000
/** The role that initdb creates, as which the platform administers the server. */
const ADMINISTRATOR_OID = 10
/** Time for a session to end. */
const END_MS = 200
const QUERY_MS = 10_000

/**
 * All sessions of a server share one table of locks, and each may take any number of them. Once the table is full,
 * nobody can even connect. The watch holds a connection, ends the sessions of the role that has most locks before
 * that, and revokes the role's right to log in when it goes on (a new password restores it).
 * @param url a superuser's URL, read for each connection
 * @returns stops the watch
 */
export function watchLocks(url: () => string, log: Logger): () => Promise<void> {
  const stopped = new AbortController()
  const pause = (ms: number) => delay(ms, undefined, { signal: stopped.signal })
  const ends = new Map<string, { count: number; at: number }>()

  async function look(client: ClientBase): Promise<void> {
    const greediest = await findGreediest(client)
    if (!greediest) return
    const { oid, pids, locks } = greediest
    const earlier = ends.get(oid)
    const at = performance.now()
    const count = earlier && at - earlier.at < FORGET_MS ? earlier.count + 1 : 1
    ends.set(oid, { count, at })
    // pg_terminate_backend looks the role up, which needs a lock.
    for (const pid of pids) endProcess(pid)
    await pause(END_MS)
    const { rows } = await client.query<{ role: string }>('select rolname as role from pg_roles where oid = $1::oid', [
      oid,
    ])
    const { role } = rows[0] ?? {}
    log.warn({ role, locks }, 'ended the database sessions of a role, because they held too many locks')
    if (role === undefined || count < MAX_ENDS) return
    await client.query(`alter role ${escapeIdentifier(role)} nologin`)
    ends.delete(oid)
    log.warn({ role }, 'a role may no longer log in, because it took too many locks again; reset its password')
  }

  async function watch(): Promise<void> {
    const client = new PostgresClient({ connectionString: url(), query_timeout: QUERY_MS })
    let isLost = false
    client.on('error', () => (isLost = true))
    try {
      await client.connect()
      while (!isLost) {
        // The connection is kept after a failure: while the table is full there is no other.
        await look(client).catch((error: unknown) => logFailure(error))
        await pause(INTERVAL_MS)
      }
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  const logFailure = (error: unknown) => {
    if (!stopped.signal.aborted) log.debug({ err: error }, 'failed to watch the locks of the embedded PostgreSQL')
  }
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      await watch().catch(logFailure)
      await pause(INTERVAL_MS).catch(() => undefined)
    }
  })()
  return async () => {
    stopped.abort()
    await watching
  }
}

interface Greediest {
  oid: string
  pids: number[]
  locks: number
}

/** The role whose sessions hold most locks, if there is little room left. Needs no room in the table of locks itself. */
async function findGreediest(client: ClientBase): Promise<Greediest | undefined> {
  const { rows } = await client.query<Greediest & { total: number }>(
    `select usesysid::text as oid, array_agg(distinct pid) as pids, count(*)::int as locks,
       (sum(count(*)) over ())::int as total
     from pg_locks join pg_stat_get_activity(null) activity using (pid)
     where not fastpath and usesysid <> ${ADMINISTRATOR_OID} group by usesysid order by locks desc limit 1`,
  )
  return rows[0] && rows[0].total > MAX_LOCKS ? rows[0] : undefined
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch {
    // It has ended.
  }
}
