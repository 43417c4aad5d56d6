import type { Logger } from 'pino'
import type { Role } from '../../../contract/access'
import type { WrongCodes } from '../../../contract/signIn/auth'
import type { OpenIdSettings } from '../../openIdSettings'
import { roleOf, setAccess } from '../../state/accounts/access'
import { findUserOfIdentity, insertIdentity, type Identity } from '../../state/accounts/openId'
import { revokeInvitesOf } from '../../state/accounts/invites'
import { lockSession } from '../../state/accounts/sessions'
import { findUserByName, insertUser, lockAdmins, lockUser } from '../../state/accounts/users'
import { isDuplicate, type Db } from '../../state/db'
import type { ActivityLog } from '../activityLog'
import type { ActivityRecord } from '../../state/accounts/activity'
import type { CodeChecks } from '../codeChecks'
import type { Client, Sessions } from '../sessions'
import { mappedRole, usernameFrom, type Claims } from './claims'
import { OpenIdProblem } from './problem'

export interface OpenIdAccountParts {
  db: Db
  settings: Pick<OpenIdSettings, 'name' | 'roleClaim' | 'roles'>
  sessions: Pick<Sessions, 'open' | 'find' | 'endAll' | 'announceChange'>
  codes: Pick<CodeChecks, 'clear'>
  activityLog: Pick<ActivityLog, 'record'>
  log: Pick<Logger, 'warn'>
  /** A user lost rights. Must not throw. */
  onRightsLost: () => void
}

export interface OpenIdSession {
  token: string
  isAdmin: boolean
  /** Codes that were entered for the account since its last sign-in; undefined if there are none. */
  wrongCodes: WrongCodes | undefined
}

interface OpenIdAccounts {
  /**
   * Opens a session for the account with this identity, and creates the account if there is none. An account created
   * this way gets the role of the claim, except that the last administrator keeps theirs.
   * @throws OpenIdProblem no-role, name-taken
   */
  signIn(claims: Claims, client: Client): Promise<OpenIdSession>
  /** Connects the account of a session. @throws OpenIdProblem session-ended, identity-taken, has-identity */
  connect(claims: Claims, sessionId: string, client: Client): Promise<void>
}

/** The account that a sign-in found or created. */
interface Admitted {
  id: number
  username: string
  isAdmin: boolean
  /** What the sign-in changed, for the activity log. */
  records: ActivityRecord[]
  isRoleChanged: boolean
}

/** The provider no longer admits the user, who has an account. */
interface Refused {
  id: number
  username: string
  /** Whether open sessions continue, as those of the last administrator do. */
  keepsSessions: boolean
}

const identityOf = ({ iss, sub }: Claims): Identity => ({ issuer: iss, subject: sub })

/** The accounts of users who sign in by OpenID Connect. */
export function createOpenIdAccounts({
  db,
  settings,
  sessions,
  codes,
  activityLog,
  log,
  onRightsLost,
}: OpenIdAccountParts): OpenIdAccounts {
  const { name } = settings

  return {
    async signIn(claims, client) {
      const { address } = client
      const refusal = (username: string): ActivityRecord => {
        const action = `failed to sign in by ${name} as`
        return { username: null, kind: 'session', action, subject: username, address, succeeded: false }
      }
      const result = await db
        .transaction()
        .execute(async (transaction) => {
          const user = await admit(transaction, claims, address, { settings, log })
          if ('keepsSessions' in user) return { refused: user }
          await lockUser(transaction, user.id)
          const wrongCodes = await codes.clear(transaction, user.id, 0)
          return { user, wrongCodes, token: await sessions.open(user, client, transaction) }
        })
        .catch((error: unknown) => {
          const problem = isDuplicate(error) ? new OpenIdProblem('name-taken', usernameFrom(claims)) : error
          if (problem instanceof OpenIdProblem) activityLog.record(refusal(problem.message))
          throw problem
        })
      if (result.refused) {
        const { id, username, keepsSessions } = result.refused
        activityLog.record(refusal(username))
        if (!keepsSessions) await sessions.endAll(id)
        throw new OpenIdProblem('no-role', username)
      }
      const { token, wrongCodes } = result
      const { username, isAdmin, records, isRoleChanged } = result.user
      for (const record of records) activityLog.record(record)
      activityLog.record({ username, kind: 'session', action: `signed in by ${name}`, address, succeeded: true })
      if (isRoleChanged) {
        await sessions.announceChange()
        if (!isAdmin) onRightsLost()
      }
      return { token, wrongCodes, isAdmin }
    },

    async connect(claims, sessionId, { address }) {
      const [user] = await sessions.find([sessionId])
      if (!user) throw new OpenIdProblem('session-ended')
      const owner = await findUserOfIdentity(db, identityOf(claims))
      if (owner?.id === user.userId) return
      if (owner) throw new OpenIdProblem('identity-taken', user.username)
      await db
        .transaction()
        .execute(async (transaction) => {
          if (!(await lockSession(transaction, { userId: user.userId, sessionId })))
            throw new OpenIdProblem('session-ended')
          await insertIdentity(transaction, { ...identityOf(claims), user_id: user.userId, made_account: false })
        })
        .catch((error: unknown) => {
          throw isDuplicate(error) ? new OpenIdProblem('has-identity', user.username) : error
        })
      const { username } = user
      activityLog.record({ username, kind: 'session', action: `connected to ${name}`, address, succeeded: true })
    },
  }
}

/** Finds or creates the account. The lock serializes it with other sign-ins and changes of rights. */
async function admit(
  transaction: Db,
  claims: Claims,
  address: string,
  { settings, log }: Pick<OpenIdAccountParts, 'settings' | 'log'>,
): Promise<Admitted | Refused> {
  const administrators = await lockAdmins(transaction)
  const role = mappedRole(claims, settings)
  const user = await findUserOfIdentity(transaction, identityOf(claims))
  if (!user) return createAccount(transaction, claims, role, address, settings.name)
  const { id, username, is_admin: isAdmin, made_account: wasCreatedHere } = user
  const unchanged = { id, username, isAdmin, records: [], isRoleChanged: false }
  if (!wasCreatedHere || role === roleOf(user)) return unchanged
  const isLastAdmin = isAdmin && administrators.size === 1
  if (role === undefined) return { id, username, keepsSessions: isLastAdmin }
  if (isLastAdmin) {
    log.warn({ username, role }, 'the OpenID Connect provider gives the last administrator another role; ignored')
    return unchanged
  }
  await setAccess(transaction, id, { role, grants: [] })
  const action = `got from ${settings.name} the role`
  const common = { username, address, succeeded: true }
  const revoked = role === 'administrator' ? [] : await revokeInvitesOf(transaction, id)
  const records = [
    { ...common, kind: 'user' as const, action, subject: role },
    ...revoked.map((message) => ({
      ...common,
      kind: 'invite' as const,
      action: `revoked invite code of ${username}`,
      subject: message,
    })),
  ]
  return { ...unchanged, isAdmin: role === 'administrator', records, isRoleChanged: true }
}

async function createAccount(
  transaction: Db,
  claims: Claims,
  role: Role | undefined,
  address: string,
  provider: string,
): Promise<Admitted> {
  const username = usernameFrom(claims)
  if (role === undefined) throw new OpenIdProblem('no-role', username)
  // Users may choose their name at the provider. It must not give them the account of another user.
  if (await findUserByName(transaction, username)) throw new OpenIdProblem('name-taken', username)
  const isAdmin = role === 'administrator'
  const account = { username, password_hash: null, is_admin: isAdmin }
  const id = await insertUser(transaction, account)
  if (role === 'limited') await setAccess(transaction, id, { role, grants: [] })
  await insertIdentity(transaction, { ...identityOf(claims), user_id: id, made_account: true })
  const action = `registered by ${provider} with the role`
  const record = { username, kind: 'user' as const, action, subject: role, address, succeeded: true }
  return { id, username, isAdmin, records: [record], isRoleChanged: false }
}
