import type { Db } from '../db'
import { lockUser } from './users'

/** Both tables of methods have an owner, a name and an id. */
export type MethodTable = 'authenticators' | 'passkeys'

/** @returns false if the user has no such method */
export async function renameMethod(
  db: Db,
  table: MethodTable,
  userId: number,
  id: string,
  name: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable(table)
    .set({ name })
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** @returns the name; undefined if the user has no such method */
export async function deleteMethod(
  db: Db,
  table: MethodTable,
  userId: number,
  id: string,
): Promise<string | undefined> {
  const row = await db
    .deleteFrom(table)
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning('name')
    .executeTakeFirst()
  return row?.name
}

/** Locks the user's row, to serialize changes of one user's methods. @returns the number of methods */
export async function countMethods(
  transaction: Db,
  userId: number,
): Promise<{ authenticators: number; passkeys: number }> {
  await lockUser(transaction, userId)
  const count = async (table: MethodTable) =>
    (await transaction.selectFrom(table).select('id').where('user_id', '=', userId).execute()).length
  return { authenticators: await count('authenticators'), passkeys: await count('passkeys') }
}
