import type { User } from '../../contract/admin'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import type { SessionUser } from '../state/accounts/sessions'
import {
  deleteUser,
  findUser,
  listUsers,
  lockAdmins,
  replacePassword,
  setUserAdmin,
  type UserRow,
} from '../state/accounts/users'
import { hashPassword } from './passwords'

/**
 * Administration of users. An administrator cannot demote or delete themself, and the caller's rights are checked in
 * the same transaction, so one administrator always remains (decisions §2).
 */
export interface Users {
  list(): Promise<User[]>
  /** @returns the username. @throws AppError NOT_FOUND, CONFLICT for oneself, NOT_ALLOWED if `by` was demoted */
  setAdmin(by: SessionUser, id: number, isAdmin: boolean): Promise<string>
  /** Ends all of the user's sessions. @returns the username. @throws AppError NOT_FOUND, NOT_ALLOWED as setAdmin */
  setPassword(by: SessionUser, id: number, password: string): Promise<string>
  /** Ends all of the user's sessions; deployments, files and databases are kept. @returns and @throws as setAdmin */
  remove(by: SessionUser, id: number): Promise<string>
}

/** Called after changes of users. They must not throw. */
interface UserEvents {
  /** A user was deleted or demoted. */
  onRightsLost: () => void
  /** Sessions of a user were ended, or their rights changed. */
  onSessionsChanged: () => void
}

export function createUsers(db: Db, { onRightsLost, onSessionsChanged }: UserEvents): Users {
  /** Changes a user under the lock on administrator rights. @param refusal the message if `by` may not be the user */
  async function change(
    by: SessionUser,
    id: number,
    refusal: string | undefined,
    work: (transaction: Db, user: UserRow) => Promise<unknown>,
  ): Promise<string> {
    const username = await db.transaction().execute(async (transaction) => {
      if (!(await lockAdmins(transaction)).has(by.userId))
        throw new AppError('NOT_ALLOWED', 'You are no longer an administrator.')
      const user = await findUser(transaction, id)
      if (!user) throw new AppError('NOT_FOUND', 'This user does not exist. The account may have been deleted.')
      if (refusal !== undefined && user.id === by.userId) throw new AppError('CONFLICT', refusal)
      await work(transaction, user)
      return user.username
    })
    onSessionsChanged()
    return username
  }

  return {
    list: () => listUsers(db),

    async setAdmin(by, id, isAdmin) {
      const refusal = 'You cannot change your own administrator rights. Ask another administrator to do it.'
      const username = await change(by, id, refusal, (transaction, user) => setUserAdmin(transaction, user.id, isAdmin))
      if (!isAdmin) onRightsLost()
      return username
    },

    async setPassword(by, id, password) {
      const hash = await hashPassword(password)
      return change(by, id, undefined, (transaction, user) => replacePassword(transaction, user.id, hash))
    },

    async remove(by, id) {
      const refusal = 'You cannot delete your own account. Ask another administrator to do it.'
      const username = await change(by, id, refusal, (transaction, user) => deleteUser(transaction, user.id))
      onRightsLost()
      return username
    },
  }
}
