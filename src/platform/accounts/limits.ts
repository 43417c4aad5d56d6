import { AppError } from '../errors'
import type { Db } from '../state/db'
import { countTry, forgetTries } from '../state/tries'

/** How many tries a key has in a window of so many seconds. */
interface Limit {
  name: string
  tries: number
  seconds: number
}

export const limits = {
  /** Passwords for one account from one address: guessing is slow, and the owner can sign in from elsewhere. */
  password: { name: 'password', tries: 10, seconds: 300 },
  /** Passwords from one address, whatever the account. Generous: an office shares one. */
  address: { name: 'address', tries: 100, seconds: 300 },
  /** Second steps of signing in and registering from one address. Generous, as above: each step has its own few tries. */
  step: { name: 'step', tries: 200, seconds: 300 },
  /** Invite codes and registrations from one address. */
  invite: { name: 'invite', tries: 30, seconds: 300 },
} satisfies Record<string, Limit>

/**
 * Takes one try of a limit.
 * @throws AppError TOO_MANY_TRIES once there are none left in this window.
 */
export async function takeTry(db: Db, limit: Limit, key: string): Promise<void> {
  const { count, secondsLeft } = await countTry(db, keyOf(limit, key), limit.seconds)
  if (count > limit.tries) throw tooManyTries(secondsLeft)
}

/** @param seconds until another try makes sense, whole. */
export function tooManyTries(seconds: number): AppError {
  return new AppError('TOO_MANY_TRIES', `Too many tries. Please wait ${waitText(seconds)} and try again.`, { retryAfterSeconds: seconds })
}

/** A time in words, rounded up: `90 seconds`, `15 minutes`, `24 hours`. @param seconds whole. */
export function waitText(seconds: number): string {
  if (seconds <= 90) return `${seconds} seconds`
  return seconds <= 90 * 60 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.ceil(seconds / 3600)} hours`
}

/** After a success: the tries of this window are given back. */
export async function giveBackTries(db: Db, limit: Limit, key: string): Promise<void> {
  await forgetTries(db, keyOf(limit, key))
}

/**
 * What counts as one address: of IPv6 the /64 network, which one customer has whole (RFC 6177).
 * @param address as the socket says it.
 */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  return groupsOf(address).slice(0, 4).join(':')
}

/** The eight groups of an IPv6 address, each as it is written, without leading zeros of its own. */
export function groupsOf(address: string): string[] {
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0')
  return [...head, ...zeros, ...tail]
}

function keyOf({ name }: Limit, key: string): string {
  return `${name} ${key.toLowerCase()}`
}
