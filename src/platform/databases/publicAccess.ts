import { escapeIdentifier, type ClientBase } from 'pg'
import type { Logger } from 'pino'
import { errorCodeOf } from '../errors'
import { identifyDatabase, type DatabaseIdentity } from '../state/db'

/**
 * Revokes PUBLIC's right to connect to the server's own databases and the platform's, so that users' roles reach only
 * their own databases. Logs the names of databases that remain open to everybody.
 * @param state the platform's own database, which its own role keeps
 */
export async function revokePublicConnect(
  client: ClientBase,
  state: DatabaseIdentity | undefined,
  log: Logger,
): Promise<void> {
  const isStateHere = state !== undefined && (await identifyDatabase(client))?.server === state.server
  for (const name of await listPublicDatabases(client)) {
    const isState = isStateHere && name === state.database
    if (!isState && !['template1', 'postgres'].includes(name)) continue
    const database = escapeIdentifier(name)
    // Granted first, because the platform may have relied on PUBLIC's right.
    const statements = [
      ...(isState ? [`grant connect on database ${database} to ${escapeIdentifier(state.role)}`] : []),
      `revoke connect, temporary on database ${database} from public`,
    ]
    await client.query(statements.join('; ')).catch((error: unknown) => {
      // Insufficient privilege, or (on a copy of a server) no such role. The warning below names the database.
      if (!['42501', '42704'].includes(errorCodeOf(error) ?? '')) throw error
    })
  }
  const stillPublic = await listPublicDatabases(client)
  if (stillPublic.length > 0)
    log.warn(
      { databases: stillPublic },
      'every role may connect to these databases of the PostgreSQL server, including the roles of users; revoke CONNECT on them from PUBLIC',
    )
}

async function listPublicDatabases(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select datname as name from pg_database where datallowconn and has_database_privilege('public', oid, 'connect') order by datname",
  )
  return rows.map(({ name }) => name)
}
