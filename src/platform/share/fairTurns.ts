/** Trees that are worked on at a time: more would only make the disk wait for itself. */
const AT_ONCE = 3
/** Of one user: what takes long leaves a turn to the others. */
const AT_ONCE_OF_ONE = 2

/** Turns at long work. Of the users who wait the one is next whose last turn is the longest ago, however many each waits for. */
export interface FairTurns {
  waitingOf(userId: number): number
  /** @returns what ends the turn, to be called once. @throws the signal's reason, when it is aborted before the turn has come */
  turn(userId: number, signal: AbortSignal): Promise<() => void>
}

export function createFairTurns(): FairTurns {
  /** By user, who comes next first: who was given a turn goes to the end. */
  const waiting = new Map<number, (() => void)[]>()
  const running = new Map<number, number>()
  const runningOf = (userId: number) => running.get(userId) ?? 0

  function begin(userId: number): void {
    running.set(userId, runningOf(userId) + 1)
  }

  function end(userId: number): void {
    if (runningOf(userId) > 1) running.set(userId, runningOf(userId) - 1)
    else running.delete(userId)
    handOut()
  }

  function isFree(userId: number): boolean {
    return [...running.values()].reduce((sum, count) => sum + count, 0) < AT_ONCE && runningOf(userId) < AT_ONCE_OF_ONE
  }

  function handOut(): void {
    for (const [userId, queue] of waiting) {
      if (!isFree(userId)) continue
      waiting.delete(userId)
      const next = queue.shift()
      if (queue.length > 0) waiting.set(userId, queue)
      if (!next) continue
      begin(userId)
      next()
    }
  }

  return {
    waitingOf: (userId) => waiting.get(userId)?.length ?? 0,
    async turn(userId, signal) {
      signal.throwIfAborted()
      if (isFree(userId)) begin(userId)
      else {
        await new Promise<void>((resolve, reject) => {
          const queue = waiting.get(userId) ?? []
          waiting.set(userId, queue)
          const leave = () => {
            queue.splice(queue.indexOf(begun), 1)
            if (queue.length === 0 && waiting.get(userId) === queue) waiting.delete(userId)
            reject(signal.reason as Error)
          }
          const begun = () => {
            signal.removeEventListener('abort', leave)
            resolve()
          }
          queue.push(begun)
          signal.addEventListener('abort', leave, { once: true })
        })
      }
      return () => end(userId)
    },
  }
}
