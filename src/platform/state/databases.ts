import { sql, type Selectable } from 'kysely'
import type { DatabaseType } from '../../contract/database'
import type { Db } from './db'
import type { State } from './schema'

export type DatabaseRow = Selectable<State['databases']>
export type NewDatabaseRow = Omit<DatabaseRow, 'created_at'>

/** Sorted by name. */
export async function listDatabases(db: Db, type: DatabaseType): Promise<DatabaseRow[]> {
  return db.selectFrom('databases').selectAll().where('type', '=', type).orderBy('name').execute()
}

/** Ignores case for MongoDB, which has no two databases whose names differ only in case. */
export async function findDatabase(db: Db, type: DatabaseType, name: string): Promise<DatabaseRow | undefined> {
  const query = db.selectFrom('databases').selectAll().where('type', '=', type)
  return query
    .where(type === 'mongo' ? sql<boolean>`lower(name) = lower(${name})` : sql<boolean>`name = ${name}`)
    .executeTakeFirst()
}

/**
 * @returns false if there are `limit` databases of that type already
 * @throws the database's duplicate error (see isDuplicate) when the name is taken
 */
export async function insertDatabase(db: Db, row: NewDatabaseRow, limit: number): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    // One insert at a time, so that each counts the others.
    await sql`lock table databases in share row exclusive mode`.execute(transaction)
    if ((await listDatabases(transaction, row.type)).length >= limit) return false
    await transaction.insertInto('databases').values(row).execute()
    return true
  })
}

/** Changes nothing if the row is gone. */
export async function updateDatabase(
  db: Db,
  id: string,
  change: Partial<Pick<DatabaseRow, 'state' | 'password'>>,
): Promise<void> {
  await db.updateTable('databases').set(change).where('id', '=', id).execute()
}

/** Deletes the row only: the database on the server must be gone already. */
export async function deleteDatabase(db: Db, id: string): Promise<void> {
  await db.deleteFrom('databases').where('id', '=', id).execute()
}
