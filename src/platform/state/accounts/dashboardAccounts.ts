import { sql } from 'kysely'
import type { Db } from '../db'

/** Stores a user's service account before it is created in the cluster. Clears the earlier token. */
export async function insertDashboardAccount(db: Db, serviceAccount: string, userId: number): Promise<void> {
  const blank = { user_id: userId, token: null, expires_at: null, created_at: sql<Date>`now()` }
  await db
    .insertInto('dashboard_accounts')
    .values({ service_account: serviceAccount, ...blank })
    .onConflict((conflict) => conflict.column('service_account').doUpdateSet(blank))
    .execute()
}

/** @param token sealed. @returns false if the row was removed in the meantime */
export async function setDashboardToken(
  db: Db,
  serviceAccount: string,
  token: string,
  expiresAt: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('dashboard_accounts')
    .set({ token, expires_at: expiresAt })
    .where('service_account', '=', serviceAccount)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Finds a user's service account with its sealed token, which is null until it is issued. */
export async function findDashboardAccount(
  db: Db,
  userId: number,
): Promise<{ serviceAccount: string; token: string | null; expiresAt: Date | null } | undefined> {
  return db
    .selectFrom('dashboard_accounts')
    .select(['service_account as serviceAccount', 'token', 'expires_at as expiresAt'])
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

/** Deletes the row only: the service account in the cluster must be gone already. */
export async function deleteDashboardAccount(db: Db, serviceAccount: string): Promise<void> {
  await db.deleteFrom('dashboard_accounts').where('service_account', '=', serviceAccount).execute()
}

/** Accounts to remove: those of deleted users or non-administrators, expired, or without a token after 10 minutes. */
export async function listStaleDashboardAccounts(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('dashboard_accounts')
    .leftJoin('users', 'users.id', 'dashboard_accounts.user_id')
    .select('service_account')
    .where(
      sql<boolean>`users.is_admin is not true or expires_at < now() or (token is null and dashboard_accounts.created_at < now() - interval '10 minutes')`,
    )
    .execute()
  return rows.map(({ service_account }) => service_account)
}
