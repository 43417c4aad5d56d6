import type { WrongCodes } from '../../contract/signIn/auth'
import { AppError } from '../errors'
import type { Db } from '../state/db'
import type { Secrets } from '../state/secrets'
import { listAuthenticators, markTotpStepUsed } from '../state/accounts/authenticators'
import type { UserRow } from '../state/accounts/users'
import {
  clearWrongCodes,
  findCodeWait,
  uncountCodeAttempt,
  countCodeAttempt,
  type CodeWaits,
} from '../state/accounts/wrongCodes'
import type { ActivityLog } from './activityLog'
import { tooManyTries, waitText } from './rateLimits'
import { stepOfCode } from './oneTimeCodes'
import { isRecoveryCode, redeemRecoveryCode } from './recoveryCodes'

/** Per account, from all addresses: who enters codes knows the password already. */
const waits: CodeWaits = { every: 10, firstSeconds: 15 * 60, longestSeconds: 86_400 }

export interface CodeChecks {
  /**
   * Verifies a one-time code of any of the user's authenticators, or a recovery code, and marks it as used. Call it
   * only after the password was verified, because every wrong code counts. After every tenth one the user waits 15
   * minutes, doubled each time up to one day.
   * @param by the user of the session, if any, and the address, for the activity log
   * @throws AppError INVALID_CODE; TOO_MANY_TRIES while the user waits, whatever the code
   */
  check(user: UserRow, code: string, by: { username: string | null; address: string }): Promise<void>
  /**
   * Clears the wrong codes since the last sign-in. Only a sign-in may call it, because it shows them to the user.
   * @param own the number that were entered in this sign-in
   * @returns the other wrong codes; undefined if there are none
   */
  clear(transaction: Db, userId: number, own: number): Promise<WrongCodes | undefined>
}

interface CodeCheckParts {
  db: Db
  /** Unseals the TOTP secrets. */
  secrets: Secrets
  /** Records when a wait begins. */
  activityLog: Pick<ActivityLog, 'record'>
  /** Milliseconds since the epoch. */
  now: () => number
}

export function createCodeChecks({ db, secrets, activityLog, now }: CodeCheckParts): CodeChecks {
  const secondsUntil = (time: Date) => Math.max(1, Math.ceil((time.getTime() - now()) / 1000))

  /** Attempts that still count because the database failed, by user: the ends of the waits that they began, if any. */
  const owed = new Map<number, (Date | null)[]>()

  async function uncount(userId: number, wait: Date | null): Promise<void> {
    try {
      await uncountCodeAttempt(db, userId, wait)
    } catch (error) {
      owed.set(userId, [...(owed.get(userId) ?? []), wait])
      throw error
    }
  }

  async function uncountOwed(userId: number): Promise<void> {
    const waits = owed.get(userId) ?? []
    // Before it waits, so that concurrent checks do not uncount the same.
    owed.delete(userId)
    try {
      for (let wait = waits.pop(); wait !== undefined; wait = waits.pop()) await uncount(userId, wait)
    } catch (error) {
      owed.set(userId, [...(owed.get(userId) ?? []), ...waits])
      throw error
    }
  }

  async function recoveryRefusal(user: UserRow, code: string, address: string): Promise<AppError | undefined> {
    const left = await redeemRecoveryCode(db, user.id, code)
    if (left === undefined)
      return new AppError('INVALID_CODE', 'This recovery code is incorrect, or it has been used already.')
    const action = `used a recovery code (${left} left)`
    activityLog.record({ username: user.username, kind: 'session', action, subject: null, address, succeeded: true })
    return undefined
  }

  async function refusal(user: UserRow, code: string): Promise<AppError | undefined> {
    let isUsed = false
    for (const { id, secret } of await listAuthenticators(db, user.id)) {
      const timeStep = await stepOfCode(secrets.unseal(secret, 'totp', user.username), code, now())
      if (timeStep === undefined) continue
      if (await markTotpStepUsed(db, id, timeStep)) return undefined
      isUsed = true
    }
    return new AppError(
      'INVALID_CODE',
      isUsed
        ? 'This verification code has already been used. Please wait for the next one.'
        : 'The verification code is incorrect.',
    )
  }

  return {
    async check(user, code, { username, address }) {
      await uncountOwed(user.id)
      const tried = await countCodeAttempt(db, user.id, new Date(now()), waits)
      if (!tried) throw tooManyTries(secondsUntil((await findCodeWait(db, user.id)) ?? new Date(now())))
      const verified = isRecoveryCode(code) ? recoveryRefusal(user, code, address) : refusal(user, code)
      const refused = await verified.catch(async (error: unknown) => {
        // The code was not verified, so it must not count.
        await uncount(user.id, tried.blockedUntil)
        throw error
      })
      if (!refused) return uncount(user.id, tried.blockedUntil)
      if (tried.blockedUntil) {
        const words = `entered wrong codes (${tried.count} so far, wait of ${waitText(secondsUntil(tried.blockedUntil))})`
        const [action, subject] = username === null ? [`${words} as`, user.username] : [words, null]
        activityLog.record({ username, kind: 'session', action, subject, address, succeeded: false })
      }
      throw refused
    },

    async clear(transaction, userId, own) {
      const wrong = await clearWrongCodes(transaction, userId)
      return wrong && wrong.count > own ? { count: wrong.count - own, since: wrong.first_at.getTime() } : undefined
    },
  }
}
