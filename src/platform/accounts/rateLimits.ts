import { AppError } from '../errors'
import type { Db } from '../state/db'
import { countAttempt, resetAttempts, uncountAttempt } from '../state/accounts/rateLimits'

/** The attempts that a key has in a window. */
interface Limit {
  name: string
  tries: number
  seconds: number
}

export const rateLimits = {
  /** Passwords for one account from one address. The owner can still sign in from elsewhere. */
  password: { name: 'password', tries: 10, seconds: 300 },
  /** Passwords for one account from all addresses. Once exceeded, `unknownAddress` applies to each further address. */
  account: { name: 'account', tries: 100, seconds: 3600 },
  /** Passwords for an account under attack, per address without a session of its user, so that nobody is locked out. */
  unknownAddress: { name: 'strange', tries: 3, seconds: 1800 },
  /** Passwords from one address for any account. Generous, because an office shares an address. */
  address: { name: 'address', tries: 100, seconds: 300 },
  /** Second steps of signing in and registering from one address. Generous, because each step limits wrong codes. */
  step: { name: 'step', tries: 200, seconds: 300 },
  /** Challenges for passkeys alone from one address. Each is stored for five minutes. */
  challenge: { name: 'challenge', tries: 200, seconds: 300 },
  /** Sign-ins by OpenID Connect that begin at one address. Each is stored for ten minutes. */
  openId: { name: 'openid', tries: 100, seconds: 300 },
  /** Ends of these sign-ins. Separate from `step`, whose attempts other ways to sign in need. */
  openIdEnd: { name: 'openid-end', tries: 200, seconds: 300 },
  /** Invite codes and registrations from one address. */
  invite: { name: 'invite', tries: 30, seconds: 300 },
} satisfies Record<string, Limit>

/** Counts an attempt. @throws AppError TOO_MANY_TRIES if the window has none left */
export async function takeAttempt(db: Db, limit: Limit, key: string): Promise<void> {
  const { count, secondsLeft } = await countAttempt(db, keyOf(limit, key), limit.seconds)
  if (count > limit.tries) throw tooManyTries(secondsLeft)
}

/** Counts an attempt without refusing it. @returns whether the window had one left */
export async function tryTakeAttempt(db: Db, limit: Limit, key: string): Promise<boolean> {
  return (await countAttempt(db, keyOf(limit, key), limit.seconds)).count <= limit.tries
}

/** @param seconds until the next attempt, whole */
export function tooManyTries(seconds: number): AppError {
  return new AppError('TOO_MANY_TRIES', `Too many attempts. Please wait ${waitText(seconds)} and try again.`, {
    retryAfterSeconds: seconds,
  })
}

/** Formats whole seconds, at least one, rounded up: `1 second`, `90 seconds`, `15 minutes`, `24 hours`. */
export function waitText(seconds: number): string {
  if (seconds <= 90) return seconds === 1 ? '1 second' : `${seconds} seconds`
  return seconds <= 90 * 60 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.ceil(seconds / 3600)} hours`
}

/** Resets the window, after a success. */
export async function clearAttempts(db: Db, limit: Limit, key: string): Promise<void> {
  await resetAttempts(db, keyOf(limit, key))
}

/** Uncounts one attempt, after a success. Attempts of others still count. */
export async function giveBackAttempt(db: Db, limit: Limit, key: string): Promise<void> {
  await uncountAttempt(db, keyOf(limit, key))
}

function keyOf({ name }: Limit, key: string): string {
  return `${name} ${key.toLowerCase()}`
}
