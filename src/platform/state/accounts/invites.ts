import { sql, type Selectable } from 'kysely'
import type { Db } from '../db'
import type { State } from '../schema'

export type InviteRow = Selectable<State['invites']>

/** Any number that no other advisory lock uses. */
const FIRST_INVITE_LOCK_KEY = 7_230_003
const isActive = sql<boolean>`used_by is null and not revoked and expires_at > now()`

/** Finds an invite that is neither used nor revoked nor expired. */
export async function findActiveInvite(db: Db, code: string): Promise<InviteRow | undefined> {
  return db.selectFrom('invites').selectAll().where('code', '=', code).where(isActive).executeTakeFirst()
}

export async function findInvite(db: Db, code: string): Promise<InviteRow | undefined> {
  return db.selectFrom('invites').selectAll().where('code', '=', code).executeTakeFirst()
}

/**
 * Marks an active invite as used. @returns undefined if it is not active; only one of concurrent calls gets the invite
 */
export async function useInvite(db: Db, code: string, username: string): Promise<InviteRow | undefined> {
  return db
    .updateTable('invites')
    .set({ used_by: username })
    .where('code', '=', code)
    .where(isActive)
    .returningAll()
    .executeTakeFirst()
}

/** Prevents other platforms from setting the first invite until the end of the transaction. */
export async function lockFirstInvite(transaction: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${FIRST_INVITE_LOCK_KEY})`.execute(transaction)
}

/** Makes `code` the first invite, and revokes an earlier unused one. */
export async function setFirstInvite(transaction: Db, code: string, expiresAt: Date): Promise<void> {
  const invite = { code, message: 'First administrator', is_first: true, expires_at: expiresAt }
  await transaction
    .updateTable('invites')
    .set({ revoked: true })
    .where('is_first', '=', true)
    .where('code', '!=', code)
    .execute()
  await transaction
    .insertInto('invites')
    .values(invite)
    .onConflict((conflict) => conflict.column('code').doUpdateSet({ ...invite, revoked: false }))
    .execute()
}

/** Finds the unused and unrevoked first invite, which may have expired. */
export async function findFirstInvite(db: Db): Promise<InviteRow | undefined> {
  return db
    .selectFrom('invites')
    .selectAll()
    .where('is_first', '=', true)
    .where('used_by', 'is', null)
    .where('revoked', '=', false)
    .executeTakeFirst()
}

/** Newest first. */
export async function listInvites(db: Db): Promise<InviteRow[]> {
  return db.selectFrom('invites').selectAll().orderBy('created_at', 'desc').orderBy('code').execute()
}

export async function insertInvite(
  db: Db,
  invite: { code: string; message: string; expires_at: Date; access: string | null; made_by: number },
): Promise<InviteRow> {
  return db.insertInto('invites').values(invite).returningAll().executeTakeFirstOrThrow()
}

/** Revokes an unused invite, which stays in the list. @returns undefined if there is none */
export async function revokeInvite(db: Db, code: string): Promise<InviteRow | undefined> {
  return db
    .updateTable('invites')
    .set({ revoked: true })
    .where('code', '=', code)
    .where('used_by', 'is', null)
    .where('revoked', '=', false)
    .returningAll()
    .executeTakeFirst()
}

/** Revokes the unused invites of a user, newest first. @returns their messages */
export async function revokeInvitesOf(transaction: Db, userId: number): Promise<string[]> {
  const revoked = await transaction
    .updateTable('invites')
    .set({ revoked: true })
    .where('made_by', '=', userId)
    .where('used_by', 'is', null)
    .where('revoked', '=', false)
    .returning(['message', 'created_at'])
    .execute()
  return revoked.sort((a, b) => b.created_at.getTime() - a.created_at.getTime()).map(({ message }) => message)
}

/** Prevents, until the end of the transaction, new invites with grants and deletions of deployments. */
export async function lockInviteGrants(transaction: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('grants of invites', 0))`.execute(transaction)
}

/** Deletes a used or revoked invite. @returns undefined if there is none */
export async function deleteInvite(db: Db, code: string): Promise<InviteRow | undefined> {
  return db
    .deleteFrom('invites')
    .where('code', '=', code)
    .where(sql<boolean>`(used_by is not null or revoked)`)
    .returningAll()
    .executeTakeFirst()
}

/**
 * Removes a deployment from the grants of unused invites, so that they do not apply to a later deployment of the same
 * name.
 */
export async function removeFromInvites(transaction: Db, deployment: string): Promise<void> {
  await sql`
    update invites set access = jsonb_set(access, '{grants}', coalesce(
      (select jsonb_agg(each) from jsonb_array_elements(access -> 'grants') each
        where each ->> 'deployment' <> ${deployment}::text), '[]'))
    where used_by is null
      and access -> 'grants' @> jsonb_build_array(jsonb_build_object('deployment', ${deployment}::text))
  `.execute(transaction)
}
