import type { ClientBase } from 'pg'

/** Settings that end long transactions; 0 disables them. Which of them exist depends on the version of PostgreSQL. */
const TIMEOUTS = ['idle_in_transaction_session_timeout', 'transaction_timeout']

/**
 * Tries to take an advisory lock of PostgreSQL within a transaction that it begins. A lock of the session would not
 * work behind a pooler that hands out connections per transaction (PgBouncer): another client gets the same session and
 * its lock.
 * @param client a dedicated connection. The lock is released when its transaction or the connection ends.
 * @returns whether the lock was taken; if not, the transaction is rolled back
 */
export async function tryAdvisoryLock(client: ClientBase, key: number | string): Promise<boolean> {
  // At this isolation level an idle transaction holds no snapshot, which would keep VACUUM from removing rows.
  await client.query('begin isolation level read committed')
  await client.query("select set_config(name, '0', true) from pg_settings where name = any($1)", [TIMEOUTS])
  const number = typeof key === 'string' ? 'hashtextextended($1, 0)' : '$1::bigint'
  const { rows } = await client.query<{ taken: boolean }>(`select pg_try_advisory_xact_lock(${number}) as taken`, [key])
  if (rows[0]?.taken) return true
  await client.query('rollback')
  return false
}
