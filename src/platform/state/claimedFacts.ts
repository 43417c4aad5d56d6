import { randomUUID } from 'node:crypto'
import type { Db } from './db'

/** Stores a fact about this state that holds once and for all. @returns whether this call stored it */
export async function claimFact(db: Db, name: string, value: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('facts')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Whether a fact was stored. */
export async function hasFact(db: Db, name: string): Promise<boolean> {
  return (await db.selectFrom('facts').select('name').where('name', '=', name).executeTakeFirst()) !== undefined
}

/** Identifies this state among others. It stays the same for replicas and in backups. */
export async function idOfState(db: Db): Promise<string> {
  await claimFact(db, 'id', randomUUID())
  return (await db.selectFrom('facts').select('value').where('name', '=', 'id').executeTakeFirstOrThrow()).value
}
