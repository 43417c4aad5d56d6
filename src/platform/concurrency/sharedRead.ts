import { setTimeout as delay } from 'node:timers/promises'

/**
 * Shares an expensive read between callers. A call during a read gets the result of the next read, because the one in
 * flight may miss what the caller has just written. At most one read is in flight.
 * @param pauseMs minimum time between the end of a read and the start of the next one
 * @returns a function that resolves with the result of a read that started after the call; it throws what `read`
 * throws.
 */
export function createSharedRead<Result>(read: () => Promise<Result>, pauseMs = 0): () => Promise<Result> {
  let inFlight: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | undefined
  return () => {
    next ??= inFlight.then(() => {
      next = undefined
      const started = read()
      inFlight = started.catch(() => undefined)
      if (pauseMs > 0) inFlight = inFlight.then(() => delay(pauseMs, undefined, { ref: false }))
      return started
    })
    return next
  }
}

/**
 * As `createSharedRead`, for entries by key: a read covers all keys that were requested since the last one started.
 * @returns a function that resolves with the entry, undefined if there is none
 */
export function createBatchedRead<Key, Entry>(
  read: (keys: Key[]) => Promise<Map<Key, Entry>>,
): (key: Key) => Promise<Entry | undefined> {
  let keys = new Set<Key>()
  const shared = createSharedRead(() => {
    const batch = [...keys]
    keys = new Set()
    return read(batch)
  })
  return async (key) => {
    keys.add(key)
    return (await shared()).get(key)
  }
}

/**
 * Shares an expensive read between callers that accept a recent result.
 * @param maxAgeMs maximum time between the start of a read and a call that gets its result
 * @returns the function, whose `forget` makes later calls get the result of a read that starts after it
 */
export function createRecentRead<Result>(
  read: () => Promise<Result>,
  maxAgeMs: number,
): (() => Promise<Result>) & { forget: () => void } {
  let latest: { begunAt: number; result: Promise<Result> } | undefined
  const recent = () => {
    const now = performance.now()
    if (latest && now - latest.begunAt < maxAgeMs) return latest.result
    const mine = { begunAt: now, result: read() }
    latest = mine
    // Callers that share the read get its failure. The next caller reads again.
    mine.result.catch(() => {
      if (latest === mine) latest = undefined
    })
    return mine.result
  }
  return Object.assign(recent, { forget: () => void (latest = undefined) })
}

/** By how much a timer may be late. If it is later, this process did not run, and nothing is known about a read. */
const LATE_MS = 500

/** @throws Error when the time is up, or after another such time if the process did not run for a part of it */
async function timeOut(ms: number): Promise<never> {
  let lateMs: number
  do {
    const begunAt = performance.now()
    await delay(ms, undefined, { ref: false })
    lateMs = performance.now() - begunAt - ms
  } while (lateMs > LATE_MS)
  throw new Error(`No response within ${ms} ms`)
}

/**
 * As `createSharedRead`, for a read that may hang: callers stop waiting, but no second read starts beside it.
 * @param ms how long a caller waits, while this process runs
 * @returns a function that also throws an Error when the time is up
 */
export function createBoundedRead<Result>(read: () => Promise<Result>, ms: number): () => Promise<Result> {
  const shared = createSharedRead(read)
  return () => Promise.race([shared(), timeOut(ms)])
}

/**
 * As `createSharedRead`, for each key.
 * @returns a function. Calls with the same key must pass equivalent reads.
 */
export function createKeyedSharedRead<Result>(): (key: string, read: () => Promise<Result>) => Promise<Result> {
  const reads = new Map<string, { shared: () => Promise<Result>; callers: number }>()
  return async (key, read) => {
    const entry = reads.get(key) ?? { shared: createSharedRead(read), callers: 0 }
    reads.set(key, entry)
    entry.callers += 1
    try {
      return await entry.shared()
    } finally {
      entry.callers -= 1
      if (entry.callers === 0) reads.delete(key)
    }
  }
}
