import type { ClientBase } from 'pg'

/** Settings that end long transactions; 0 disables them. Which of them exist depends on the version of PostgreSQL. */
const TIMEOUTS = ['idle_in_transaction_session_timeout', 'transaction_timeout']

interface LockOptions {
  /** Whether other holders that share may hold the lock at the same time. */
  isShared?: boolean
  /**
   * The server releases the lock when the connection has sent nothing for this long: the holder's machine may be gone
   * without having closed it. 0: never, so the holder need not send anything.
   */
  leaseMs?: number
}

/**
 * Tries to take an advisory lock of PostgreSQL within a transaction that it begins. A lock of the session would not
 * work behind a pooler that hands out connections per transaction (PgBouncer): another client gets the same session and
 * its lock.
 * @param client a dedicated connection. The lock is released when its transaction or the connection ends.
 * @param key several texts are several locks, which are taken all or none
 * @returns whether the lock was taken; if not, the transaction is rolled back
 */
export async function tryAdvisoryLock(
  client: ClientBase,
  key: number | string | string[],
  { isShared = false, leaseMs = 0 }: LockOptions = {},
): Promise<boolean> {
  // At this isolation level an idle transaction holds no snapshot, which would keep VACUUM from removing rows.
  await client.query('begin isolation level read committed')
  await client.query(
    "select set_config(name, case name when $2 then $3 else '0' end, true) from pg_settings where name = any($1)",
    [TIMEOUTS, TIMEOUTS[0], String(leaseMs)],
  )
  const lockFunction = isShared ? 'pg_try_advisory_xact_lock_shared' : 'pg_try_advisory_xact_lock'
  const query =
    typeof key === 'number'
      ? `select ${lockFunction}($1::bigint) as taken`
      : `select bool_and(${lockFunction}(hashtextextended(key, 0))) as taken from unnest($1::text[]) key`
  const { rows } = await client.query<{ taken: boolean }>(query, [typeof key === 'string' ? [key] : key])
  if (rows[0]?.taken) return true
  await client.query('rollback')
  return false
}
