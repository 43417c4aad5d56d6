import type { ClientBase } from 'pg'
import type { Logger } from 'pino'
import type { EndSessions } from './postgresSessions'

/** Autovacuum begins at 200 million transactions; at 2,100 million the server refuses all changes. */
const LIMITS = { transaction: 300_000_000, database: 1_000_000_000 }

interface Holder {
  pid: number
  role: string
}

/**
 * A session can use up hundreds of thousands of transaction ids a second, and the server refuses changes unless
 * autovacuum frees old ones. Autovacuum cannot do this while a session keeps an old transaction open, or has temporary
 * or locked tables in an old database. This function ends such sessions.
 * @param admin a superuser's connection
 * @param limits ages, in transactions, of a session's transaction and of a database
 */
export async function endOldTransactions(
  admin: ClientBase,
  endSessions: EndSessions,
  log: Logger,
  limits = LIMITS,
): Promise<void> {
  const { rows } = await admin.query<Holder>(
    `select pid, usename as role from pg_stat_activity join pg_database on pg_database.oid = datid
     where backend_type = 'client backend' and usename <> current_user
       and (greatest(age(backend_xid), age(backend_xmin)) > $1
         or greatest(age(datfrozenxid), mxid_age(datminmxid)) > $2)`,
    [limits.transaction, limits.database],
  )
  if (rows.length === 0) return
  await endSessions(rows.map(({ pid }) => pid))
  const roles = [...new Set(rows.map(({ role }) => role))]
  log.warn({ roles }, 'ended database sessions, because they kept old transaction ids in use')
}
