import type { ClientBase } from 'pg'

/** Settings by which a server ends transactions that last, each 0 for never. Which of them there are depends on its version. */
const TIMEOUTS = ['idle_in_transaction_session_timeout', 'transaction_timeout']

/**
 * Tries to take an advisory lock of PostgreSQL, for a transaction that it begins. A lock of the session would be no lock behind a pooler
 * that hands out connections per transaction (PgBouncer): another client gets the same session, and with it the lock.
 * @param client a connection of its own. Once the lock is taken it is in a transaction: the lock ends with that, or with the connection.
 * @returns whether it was taken; otherwise there is no transaction.
 */
export async function tryAdvisoryLock(client: ClientBase, key: number | string): Promise<boolean> {
  // By this isolation level an idle transaction has no snapshot, which would keep VACUUM from its work.
  await client.query('begin isolation level read committed')
  await client.query("select set_config(name, '0', true) from pg_settings where name = any($1)", [TIMEOUTS])
  const number = typeof key === 'string' ? 'hashtextextended($1, 0)' : '$1::bigint'
  const { rows } = await client.query<{ taken: boolean }>(`select pg_try_advisory_xact_lock(${number}) as taken`, [key])
  if (rows[0]?.taken) return true
  await client.query('rollback')
  return false
}
