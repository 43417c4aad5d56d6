import { AppError } from '../errors'
import { plainAddress } from './clientAddress'
import type { Db } from '../state/db'
import { countTry, forgetTries, uncountTry } from '../state/tries'

/** How many tries a key has in a window of so many seconds. */
interface Limit {
  name: string
  tries: number
  seconds: number
}

export const limits = {
  /** Passwords for one account from one address: guessing is slow, and the owner can sign in from elsewhere. */
  password: { name: 'password', tries: 10, seconds: 300 },
  /** Passwords for one account from all addresses. More than these, and each further address has only the tries of `strange`. */
  account: { name: 'account', tries: 100, seconds: 3600 },
  /** Passwords for an account that somebody guesses at, from one address where its user has no session. Each has its own, so nobody is locked out. */
  strange: { name: 'strange', tries: 3, seconds: 1800 },
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

/**
 * Takes one try of a limit that refuses nobody by itself.
 * @returns whether there were any left in this window.
 */
export async function hasTryLeft(db: Db, limit: Limit, key: string): Promise<boolean> {
  return (await countTry(db, keyOf(limit, key), limit.seconds)).count <= limit.tries
}

/** @param seconds until another try makes sense, whole. */
export function tooManyTries(seconds: number): AppError {
  return new AppError('TOO_MANY_TRIES', `Too many tries. Please wait ${waitText(seconds)} and try again.`, {
    retryAfterSeconds: seconds,
  })
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

/** After a success: its own try is given back, those of others still count. */
export async function giveBackTry(db: Db, limit: Limit, key: string): Promise<void> {
  await uncountTry(db, keyOf(limit, key))
}

/**
 * What counts as one address: of IPv6 the /64 network, which one customer has whole (RFC 6177).
 * @param text the address, as the socket or a proxy says it.
 */
export function networkOf(text: string): string {
  const address = plainAddress(text)
  if (!address.includes(':') || address.includes('.')) return address
  return groupsOf(address).slice(0, 4).join(':')
}

/**
 * What counts as one address when somebody guesses from many: of IPv6 the /56 network, which homes are often given whole.
 * @param network as `networkOf` answers it.
 */
export function wideNetworkOf(network: string): string {
  if (!network.includes(':') || network.includes('.')) return network
  const groups = network.split(':')
  return [...groups.slice(0, 3), (groups[3] ?? '').padStart(4, '0').slice(0, 2)].join(':')
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
