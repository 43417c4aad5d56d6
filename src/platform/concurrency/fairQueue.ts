import { createKeyedCounter } from './keyedCounter'

/** Tasks that run concurrently in total: more of them only compete for the same disk, process or database server. */
const MAX_CONCURRENT = 3
/** The same per user, so that one user's long tasks leave slots to the others. */
const MAX_CONCURRENT_PER_USER = 2

/** Fair queue for long tasks: round-robin over users, whatever the number of tasks that each has queued. */
export interface FairQueue {
  /** Number of tasks of a user that wait for a slot. */
  queuedCount(userId: number): number
  /**
   * Waits for a slot.
   * @returns a function that releases it; call it once.
   * @throws the signal's reason if it aborts before.
   */
  acquire(userId: number, signal: AbortSignal): Promise<() => void>
}

export function createFairQueue(): FairQueue {
  /** Queues by user in round-robin order: a user who got a slot moves to the end. */
  const waiting = new Map<number, (() => void)[]>()
  const runningByUser = createKeyedCounter<number>()
  let running = 0

  function count(userId: number, change: 1 | -1): void {
    runningByUser.add(userId, change)
    running += change
  }

  function release(userId: number): void {
    count(userId, -1)
    startQueued()
  }

  function isFree(userId: number): boolean {
    return running < MAX_CONCURRENT && runningByUser.get(userId) < MAX_CONCURRENT_PER_USER
  }

  function startQueued(): void {
    for (const [userId, queue] of waiting) {
      if (!isFree(userId)) continue
      waiting.delete(userId)
      const next = queue.shift()
      if (queue.length > 0) waiting.set(userId, queue)
      if (!next) continue
      count(userId, 1)
      next()
    }
  }

  return {
    queuedCount: (userId) => waiting.get(userId)?.length ?? 0,
    async acquire(userId, signal) {
      signal.throwIfAborted()
      if (isFree(userId)) count(userId, 1)
      else {
        await new Promise<void>((resolve, reject) => {
          const queue = waiting.get(userId) ?? []
          waiting.set(userId, queue)
          const cancel = () => {
            queue.splice(queue.indexOf(grant), 1)
            if (queue.length === 0 && waiting.get(userId) === queue) waiting.delete(userId)
            reject(signal.reason as Error)
          }
          const grant = () => {
            signal.removeEventListener('abort', cancel)
            resolve()
          }
          queue.push(grant)
          signal.addEventListener('abort', cancel, { once: true })
        })
      }
      return () => release(userId)
    },
  }
}
