import pLimit from 'p-limit'

/** Limits concurrent work with the same key. Starts it in order of arrival. A failure does not block what follows. */
export type KeyedLimit<Key> = <Result>(key: Key, work: () => Promise<Result>) => Promise<Result>

export function createKeyedLimit<Key>(concurrency: number): KeyedLimit<Key> {
  const limits = new Map<Key, { limit: ReturnType<typeof pLimit>; callers: number }>()
  return async (key, work) => {
    const entry = limits.get(key) ?? { limit: pLimit(concurrency), callers: 0 }
    limits.set(key, entry)
    entry.callers += 1
    try {
      return await entry.limit(work)
    } finally {
      entry.callers -= 1
      if (entry.callers === 0) limits.delete(key)
    }
  }
}
