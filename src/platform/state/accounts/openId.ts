import type { Selectable } from 'kysely'
import type { Db } from '../db'
import type { State } from '../schema'
import type { UserRow } from './users'

type OpenIdStep = Selectable<State['openid_steps']>

/** The identity of an account's owner at a provider: unique, and never reassigned (OpenID Connect Core §5.7). */
export interface Identity {
  issuer: string
  subject: string
}

/** Stores a sign-in that has begun. */
export async function insertOpenIdStep(db: Db, step: OpenIdStep): Promise<void> {
  await db.insertInto('openid_steps').values(step).execute()
}

/**
 * @returns undefined if it belongs to another browser, or was taken before, so that only one of concurrent calls gets
 * it
 */
export async function takeOpenIdStep(db: Db, stateHash: string, browserHash: string): Promise<OpenIdStep | undefined> {
  return db
    .deleteFrom('openid_steps')
    .where('state_hash', '=', stateHash)
    .where('browser_hash', '=', browserHash)
    .returningAll()
    .executeTakeFirst()
}

/** The user whose account belongs to an identity, and whether a sign-in with it created the account. */
export async function findUserOfIdentity(
  db: Db,
  { issuer, subject }: Identity,
): Promise<(UserRow & { made_account: boolean }) | undefined> {
  return db
    .selectFrom('openid_identities')
    .innerJoin('users', 'users.id', 'openid_identities.user_id')
    .selectAll('users')
    .select('made_account')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
}

/** @returns whether a sign-in with its identity created a user's account; undefined if it has no identity */
export async function findIdentityOf(db: Db, userId: number): Promise<{ made_account: boolean } | undefined> {
  return db.selectFrom('openid_identities').select('made_account').where('user_id', '=', userId).executeTakeFirst()
}

/** @throws the database's duplicate error (see isDuplicate) when the identity or the user is connected already */
export async function insertIdentity(
  db: Db,
  identity: Identity & { user_id: number; made_account: boolean },
): Promise<void> {
  await db.insertInto('openid_identities').values(identity).execute()
}

/** @returns false if the user had none */
export async function deleteIdentityOf(db: Db, userId: number): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('openid_identities').where('user_id', '=', userId).executeTakeFirst()
  return numDeletedRows === 1n
}
