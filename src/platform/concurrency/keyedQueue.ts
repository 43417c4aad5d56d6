/** Runs work with the same key one after another, in order of arrival. A failure does not block what follows. */
export type KeyedQueue = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(work, work)
    tails.set(key, result)
    try {
      return await result
    } finally {
      if (tails.get(key) === result) tails.delete(key)
    }
  }
}
