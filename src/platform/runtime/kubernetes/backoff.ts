/** Delays between attempts at something that fails: doubled each time, and random, so that attempts spread out. */
export interface Backoff {
  /** @returns the delay until the next attempt, in milliseconds: half to one and a half of the doubled value */
  next(): number
  /** To be called after a success. */
  reset(): void
}

/** @param firstMs mean delay after the first failure. @param maxMs maximum mean delay */
export function createBackoff(firstMs: number, maxMs: number): Backoff {
  let meanMs = firstMs
  return {
    next() {
      const delayMs = meanMs * (0.5 + Math.random())
      meanMs = Math.min(maxMs, meanMs * 2)
      return delayMs
    },
    reset: () => void (meanMs = firstMs),
  }
}

/** As createBackoff, for attempts at many things. */
export function createKeyedBackoff(firstMs: number, maxMs: number) {
  const backoffs = new Map<string, Backoff>()
  return {
    next(key: string): number {
      const backoff = backoffs.get(key) ?? createBackoff(firstMs, maxMs)
      backoffs.set(key, backoff)
      return backoff.next()
    },
    reset: (key: string): void => void backoffs.delete(key),
  }
}
