import type { Db } from '../db'
import { lockUser } from './users'

/** The hashes of the codes that are not used yet. */
export async function listRecoveryCodes(db: Db, userId: number): Promise<string[]> {
  const rows = await db.selectFrom('recovery_codes').select('code_hash').where('user_id', '=', userId).execute()
  return rows.map(({ code_hash }) => code_hash)
}

/** Replaces all codes of a user. */
export async function replaceRecoveryCodes(transaction: Db, userId: number, hashes: string[]): Promise<void> {
  await lockUser(transaction, userId)
  await transaction.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  await transaction
    .insertInto('recovery_codes')
    .values(hashes.map((code_hash) => ({ user_id: userId, code_hash })))
    .execute()
}

/** @returns false if it was used before; only one of concurrent calls gets true */
export async function useRecoveryCode(db: Db, userId: number, hash: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('code_hash', '=', hash)
    .executeTakeFirst()
  return numDeletedRows === 1n
}
