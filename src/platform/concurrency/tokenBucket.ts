/** A budget that is refilled at a constant rate, up to its capacity. */
export interface TokenBucket {
  /** The tokens that are left now. */
  left(): number
  spend(tokens: number): void
}

/** Creates a full bucket. @param perMs tokens that are added each millisecond */
export function createTokenBucket(capacity: number, perMs: number): TokenBucket {
  let tokens = capacity
  // Monotonic, because a wall clock that is set back would stop the refill.
  let refilledAt = performance.now()
  return {
    left() {
      const now = performance.now()
      tokens = Math.min(capacity, tokens + (now - refilledAt) * perMs)
      refilledAt = now
      return tokens
    },
    spend(spent) {
      tokens -= spent
    },
  }
}
