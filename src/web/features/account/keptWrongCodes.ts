import type { WrongCodes } from '../../../contract/auth'

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const KEY = 'wrongCodes'

/** Keeps the warning of one session: it is of no use to the next. */
export const keepWrongCodes = (storage: Store, session: string, { count, since }: WrongCodes) =>
  storage.setItem(KEY, JSON.stringify({ session, count, since }))

/** @returns undefined for what is of another session, or none: another server's answer may hold anything. */
export function readWrongCodes(storage: Store, session: string): WrongCodes | undefined {
  try {
    const kept = JSON.parse(storage.getItem(KEY) ?? '{}') as Partial<
      Record<'session' | 'count' | 'since', unknown>
    > | null
    if (
      kept?.session !== session ||
      !Number.isInteger(kept.count) ||
      !Number.isFinite(new Date(kept.since as number).getTime())
    )
      return undefined
    return { count: kept.count as number, since: kept.since as number }
  } catch {
    return undefined
  }
}

export const forgetWrongCodes = (storage: Store) => storage.removeItem(KEY)
