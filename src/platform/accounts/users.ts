import type { UserAccess } from '../../contract/access'
import type { User } from '../../contract/admin'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import { findCallers, listGrants, roleOf, setAccess } from '../state/accounts/access'
import { listAuthenticators } from '../state/accounts/authenticators'
import { revokeInvitesOf } from '../state/accounts/invites'
import {
  deleteUser,
  findUser,
  listUsers,
  deleteOtherAccess,
  lockAdmins,
  replacePassword,
  setUserAdmin,
  type UserRow,
} from '../state/accounts/users'
import type { Caller } from '../caller'
import { noPassword } from './ownPassword'
import { hashPassword } from './passwords'

/** A change of a user's rights. */
export interface ChangedRights {
  username: string
  /** The messages of their unused invites, which ended because they are no administrator any more. */
  revokedInvites: string[]
}

/**
 * Administration of users. An administrator cannot demote or delete themself, and the caller's rights are checked in
 * the same transaction, so one administrator always remains (decisions §2).
 */
export interface Users {
  list(): Promise<User[]>
  /** @throws AppError NOT_FOUND, CONFLICT for oneself, NOT_ALLOWED if `by` was demoted */
  setAdmin(by: Caller, id: number, isAdmin: boolean): Promise<ChangedRights>
  /** The users with these ids that exist, with their present rights. */
  find(ids: number[]): Promise<Map<number, Caller>>
  /** @throws AppError NOT_FOUND */
  access(id: number): Promise<{ username: string; access: UserAccess }>
  /**
   * Sets the role and, for a limited user, the grants, each of which gets the right `view`. Takes effect at once.
   * @throws as setAdmin; AppError INVALID_INPUT for a deployment that does not exist
   */
  setAccess(by: Caller, id: number, access: UserAccess): Promise<ChangedRights>
  /**
   * Ends all of the user's sessions.
   * @param endsOtherAccess whether API keys, passkeys, unused invites and the connection to a provider end too
   * @throws AppError NOT_FOUND, NOT_ALLOWED as setAdmin; CONFLICT for an account that has no password or could not sign
   * in any more
   */
  setPassword(by: Caller, id: number, password: string, endsOtherAccess?: boolean): Promise<ChangedRights>
  /** Ends all of the user's sessions; deployments, files and databases are kept. @throws as setAdmin */
  remove(by: Caller, id: number): Promise<ChangedRights>
}

/** Called after changes of users. They must not throw. */
interface UserEvents {
  /** A user was deleted or demoted. */
  onRightsLost: () => void
  /** Sessions of a user were ended, or their rights changed. The change waits for it. */
  onSessionsChanged: () => Promise<void>
}

export function createUsers(db: Db, { onRightsLost, onSessionsChanged }: UserEvents): Users {
  /**
   * Changes a user under the lock on administrator rights.
   * @param refusal the message if `by` may not be the user
   * @param work returns the messages of revoked invites
   */
  async function change(
    by: Caller,
    id: number,
    refusal: string | undefined,
    work: (transaction: Db, user: UserRow) => Promise<string[]>,
  ): Promise<ChangedRights> {
    const changed = await db.transaction().execute(async (transaction) => {
      if (!(await lockAdmins(transaction)).has(by.userId)) throw noAdministrator()
      const user = await findUser(transaction, id)
      if (!user) throw unknownUser()
      if (refusal !== undefined && user.id === by.userId) throw new AppError('CONFLICT', refusal)
      return { username: user.username, revokedInvites: await work(transaction, user) }
    })
    await onSessionsChanged()
    return changed
  }

  return {
    async list() {
      const rows = await listUsers(db)
      return rows.map(({ id, username, is_admin, lastSeen, ...row }) => ({
        id,
        username,
        is_admin,
        role: roleOf({ is_admin, ...row }),
        ...(lastSeen && { last_seen: lastSeen.toISOString() }),
      }))
    },

    find: async (ids) => new Map((await findCallers(db, ids)).map((caller) => [caller.userId, caller])),

    async access(id) {
      const user = await findUser(db, id)
      if (!user) throw unknownUser()
      const access = { role: roleOf(user), grants: user.is_limited ? await listGrants(db, user.id) : [] }
      return { username: user.username, access }
    },

    async setAccess(by, id, wanted) {
      const access = withView(wanted)
      const refusal = 'You cannot change your own rights. Ask another administrator to do it.'
      const changed = await change(by, id, refusal, async (transaction, user) => {
        requireDeployments(access, await setAccess(transaction, user.id, access))
        return access.role === 'administrator' ? [] : revokeInvitesOf(transaction, user.id)
      })
      if (access.role !== 'administrator') onRightsLost()
      return changed
    },

    async setAdmin(by, id, isAdmin) {
      const refusal = 'You cannot change your own administrator rights. Ask another administrator to do it.'
      const changed = await change(by, id, refusal, async (transaction, user) => {
        await setUserAdmin(transaction, user.id, isAdmin)
        return isAdmin ? [] : revokeInvitesOf(transaction, user.id)
      })
      if (!isAdmin) onRightsLost()
      return changed
    },

    async setPassword(by, id, password, endsOtherAccess = false) {
      const hash = await hashPassword(password)
      return change(by, id, undefined, async (transaction, user) => {
        if (user.password_hash === null) throw noPassword('This account')
        if (endsOtherAccess && (await listAuthenticators(transaction, user.id)).length === 0)
          throw new AppError(
            'CONFLICT',
            'This account has no authenticator app, so its user could not sign in without passkeys. Delete the account and invite the user again.',
          )
        await replacePassword(transaction, user.id, hash)
        if (!endsOtherAccess) return []
        await deleteOtherAccess(transaction, user.id)
        return revokeInvitesOf(transaction, user.id)
      })
    },

    async remove(by, id) {
      const refusal = 'You cannot delete your own account. Ask another administrator to do it.'
      const changed = await change(by, id, refusal, async (transaction, user) => {
        const revoked = await revokeInvitesOf(transaction, user.id)
        await deleteUser(transaction, user.id)
        return revoked
      })
      onRightsLost()
      return changed
    },
  }
}

/** The error for a caller who was demoted during the call. */
export const noAdministrator = () => new AppError('NOT_ALLOWED', 'You are no longer an administrator.')
/** The error for a user who does not exist, or no longer does. */
export const unknownUser = () =>
  new AppError('NOT_FOUND', 'This user does not exist. The account may have been deleted.')

/**
 * Adds the right `view` to each grant: any other right includes it. Grants without a right are dropped, and so are
 * those of roles that have all rights. @throws AppError INVALID_INPUT if a deployment is named twice
 */
export function withView({ role, grants }: UserAccess): UserAccess {
  if (role !== 'limited') return { role, grants: [] }
  const names = grants.map(({ deployment }) => deployment)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    throw new AppError('INVALID_INPUT', `grants: the deployment "${twice}" is named twice`, { field: 'grants' })
  return {
    role,
    grants: grants
      .filter(({ rights }) => rights.length > 0)
      .map(({ deployment, rights }) => ({ deployment, rights: [...new Set(['view' as const, ...rights])] })),
  }
}

/** @param existing deployments that exist. @throws AppError INVALID_INPUT for a grant of another one */
export function requireDeployments({ grants }: UserAccess, existing: ReadonlySet<string>): void {
  const unknown = grants.find(({ deployment }) => !existing.has(deployment))
  if (unknown)
    throw new AppError('INVALID_INPUT', `grants: there is no deployment named "${unknown.deployment}"`, {
      field: 'grants',
    })
}
