/** Work under the same key runs one after another, in the order it came; a failure does not hold up what follows. */
export type KeyedQueue = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

/** One of its own: keys of two queues know nothing of each other. */
export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const turn = (tails.get(key) ?? Promise.resolve()).then(work, work)
    tails.set(key, turn)
    try {
      return await turn
    } finally {
      if (tails.get(key) === turn) tails.delete(key)
    }
  }
}
