/** Counts by key. A key with a count of zero takes no memory. */
export function createKeyedCounter<Key>(): {
  get(key: Key): number
  /** @param amount negative to decrement */
  add(key: Key, amount: number): void
} {
  const counts = new Map<Key, number>()
  return {
    get: (key) => counts.get(key) ?? 0,
    add(key, amount) {
      const count = (counts.get(key) ?? 0) + amount
      if (count > 0) counts.set(key, count)
      else counts.delete(key)
    },
  }
}
