import { setTimeout as delay } from 'node:timers/promises'
import { escapeIdentifier, type ClientBase } from 'pg'
import type { Logger } from 'pino'
import { errorCodeOf } from '../errors'
import { PostgresClient } from '../postgresClient'
import type { EmbeddedPostgres } from './embeddedPostgres'
import { endOldTransactions } from './oldTransactions'

const INTERVAL_MS = 1000
/**
 * Interval of the checks for old transactions. At most 20,000,000 of the permitted 300,000,000 transactions happen
 * within it.
 */
const AGES_MS = 60_000
/**
 * The lock table holds about 24,000 locks (`max_locks_per_transaction`). A dump of a database takes one for each table.
 */
const MAX_LOCKS = 10_000
/**
 * A role whose sessions were ended this often, other ones each time, and each time within FORGET_MS of the last, loses
 * the right to log in.
 */
const MAX_ENDS = 3
const FORGET_MS = 10 * 60_000
/** The role that initdb creates, as which the platform administers the server. */
const ADMINISTRATOR_OID = 10
/** Pause between two attempts while the lock table is full. */
const RETRY_MS = 20
/** Time for a session to end, on a busy machine. */
const END_MS = 1000
const MAX_WAIT_MS = 10_000
const QUERY_MS = 10_000
/** out_of_memory: also reported for a full lock table. */
const OUT_OF_MEMORY = '53200'

/**
 * All sessions of a server share one lock table, and each may take any number of locks. Once the table is full, nobody
 * can connect. The watch holds a connection and, before that, ends the sessions of the role with the most locks. If the
 * role continues, it loses the right to log in (a new password restores it). The watch also checks for old transactions
 * and the queue of notifications regularly.
 * @returns stops the watch
 */
export function watchLocks(
  postgres: Pick<EmbeddedPostgres, 'adminUrl' | 'endUsersSessions'>,
  log: Logger,
): () => Promise<void> {
  const stopped = new AbortController()
  const pause = (ms: number) => delay(ms, undefined, { signal: stopped.signal })
  const ends = new Map<string, { count: number; at: number; pids: number[] }>()
  /** When the full lock table was last logged. */
  let warnedAt = -Infinity

  async function checkLocks(client: ClientBase): Promise<void> {
    const greediest = await findGreediest(client)
    if (!greediest) return
    const { oid, pids, locks } = greediest
    const earlier = ends.get(oid)
    const at = performance.now()
    const isRecent = earlier !== undefined && at - earlier.at < FORGET_MS
    // A session may take seconds to end, for example to undo its work.
    const isAnother = !isRecent || pids.some((pid) => !earlier.pids.includes(pid))
    // A role with few locks does not count: others may have taken most, and a role that dumps a database must not lose
    // its right to log in.
    const added = isAnother && locks > MAX_LOCKS / 2 ? 1 : 0
    const count = (isRecent ? earlier.count : 0) + added
    ends.set(oid, { count, at, pids })
    await postgres.endUsersSessions(pids)
    if (!isAnother) return
    const role = await withRoom(async () => {
      const { rows } = await client.query<{ role: string }>(
        'select rolname as role from pg_roles where oid = $1::oid',
        [oid],
      )
      return rows[0]?.role
    })
    log.warn({ role, locks }, 'ended the database sessions of a role, because they held too many locks')
    if (role === undefined || count < MAX_ENDS) return
    await withRoom(() => client.query(`alter role ${escapeIdentifier(role)} nologin`))
    ends.delete(oid)
    log.warn({ role }, 'a role may no longer log in, because it took too many locks again; reset its password')
  }

  /** Runs work that needs room in the lock table, which roles whose sessions were ended may fill again within 0.1 s. */
  async function withRoom<Result>(work: () => Promise<Result>): Promise<Result> {
    const since = performance.now()
    while (true) {
      await pause(RETRY_MS)
      try {
        return await work()
      } catch (error) {
        const waited = performance.now() - since
        if (errorCodeOf(error) !== OUT_OF_MEMORY || waited > MAX_WAIT_MS) throw error
        // Ends the sessions of all users, so the ones that were terminated above get their time first.
        if (waited > END_MS) await postgres.endUsersSessions()
      }
    }
  }

  async function watch(): Promise<void> {
    const client = new PostgresClient({ connectionString: postgres.adminUrl, query_timeout: QUERY_MS })
    let isLost = false
    let isFilling = false
    client.on('error', () => (isLost = true))
    let agesCheckedAt = performance.now() - AGES_MS
    const checkAll = async () => {
      await checkLocks(client)
      // PostgreSQL does not notice that a full queue of notifications has been read: this function makes it do so.
      const { rows } = await client.query<{ usage: number }>('select pg_notification_queue_usage() as usage')
      const wasFilling = isFilling
      isFilling = (rows[0]?.usage ?? 0) > 0.5
      if (isFilling && !wasFilling)
        log.warn(
          'the queue of notifications is more than half full, because a session that listens has an old transaction',
        )
      if (performance.now() - agesCheckedAt < AGES_MS) return
      await endOldTransactions(client, postgres.endUsersSessions, log)
      agesCheckedAt = performance.now()
    }
    try {
      await client.connect()
      while (!isLost && !stopped.signal.aborted) {
        // The connection is kept after a failure, because no new one is possible while the table is full.
        await checkAll().then(
          () => pause(INTERVAL_MS),
          (error: unknown) => makeRoomAfter(error),
        )
      }
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  /** Users may fill the lock table before the first check after a server start, and that check needs locks itself. */
  async function makeRoomAfter(error: unknown): Promise<void> {
    if (stopped.signal.aborted) return
    log.debug({ err: error }, 'failed to watch the sessions of the embedded PostgreSQL')
    if (errorCodeOf(error) !== OUT_OF_MEMORY) return pause(INTERVAL_MS).catch(() => undefined)
    await postgres.endUsersSessions()
    if (performance.now() - warnedAt >= INTERVAL_MS) {
      warnedAt = performance.now()
      log.warn('ended all database sessions of users, because the table of locks is full')
    }
    // A session that does not react keeps its locks until it is killed. The ended sessions of a role that continues are
    // back, with as many locks, within 50 ms.
    await pause(RETRY_MS).catch(() => undefined)
  }

  const watching = (async () => {
    while (!stopped.signal.aborted) {
      await watch()
        .then(() => pause(RETRY_MS), makeRoomAfter)
        .catch(() => undefined)
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

/**
 * The role whose sessions hold most locks, if there is little room left. The query itself needs no room in the lock
 * table.
 */
async function findGreediest(client: ClientBase): Promise<Greediest | undefined> {
  const { rows } = await client.query<Greediest & { total: number }>(
    `select usesysid::text as oid, array_agg(distinct pid) as pids, count(*)::int as locks,
       (sum(count(*)) over ())::int as total
     from pg_locks join pg_stat_get_activity(null) activity using (pid)
     where not fastpath and usesysid <> ${ADMINISTRATOR_OID} group by usesysid order by locks desc limit 1`,
  )
  return rows[0] && rows[0].total > MAX_LOCKS ? rows[0] : undefined
}
