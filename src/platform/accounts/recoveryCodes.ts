import { randomInt, timingSafeEqual } from 'node:crypto'
import type { Db } from '../state/db'
import { listRecoveryCodes, replaceRecoveryCodes, useRecoveryCode } from '../state/accounts/recoveryCodes'
import { hashToken } from '../state/secrets'

const CODES = 10
const GROUPS = 4
/** Without characters that look alike. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'

/** Whether a text is a recovery code rather than a one-time code, which has six digits. */
export const isRecoveryCode = (code: string) => !/^\d{6}$/.test(code)

/**
 * @returns ten codes of 80 random bits each, which are stored hashed and cannot be read again; earlier codes become
 * invalid
 */
export async function makeRecoveryCodes(db: Db, userId: number): Promise<string[]> {
  const group = () => Array.from({ length: 4 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  const codes = Array.from({ length: CODES }, () => Array.from({ length: GROUPS }, group).join('-'))
  const hashes = codes.map((code) => hashToken(normalize(code)))
  await db.transaction().execute((transaction) => replaceRecoveryCodes(transaction, userId, hashes))
  return codes
}

/**
 * Uses up a recovery code, typed in any case, with or without dashes and spaces.
 * @returns how many are left; undefined if it is wrong or was used before
 */
export async function redeemRecoveryCode(db: Db, userId: number, typed: string): Promise<number | undefined> {
  const hash = Buffer.from(hashToken(normalize(typed)))
  const known = await listRecoveryCodes(db, userId)
  // All are compared, so that timing reveals nothing.
  const found = known.filter((one) => timingSafeEqual(Buffer.from(one), hash))
  if (found[0] === undefined || !(await useRecoveryCode(db, userId, found[0]))) return undefined
  return known.length - 1
}

const normalize = (typed: string) => typed.replaceAll(/[\s-]/g, '').toUpperCase()
