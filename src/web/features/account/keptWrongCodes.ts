import type { WrongCodes } from '../../../contract/auth'

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const KEY = 'wrongCodes'

/** Stores the warning together with its session, because it must not appear in the next one. */
export const keepWrongCodes = (storage: Store, session: string, { count, since }: WrongCodes) =>
  storage.setItem(KEY, JSON.stringify({ session, count, since }))

/** @returns undefined if nothing valid is stored for this session. Another server's answer may hold anything. */
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
