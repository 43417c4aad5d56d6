/** Exponential back-off between polls. */
const INITIAL_DELAY_MS = 100
const MAX_DELAY_MS = 1000
const BACK_OFF_FACTOR = 1.5

interface Caller<Result> {
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

interface Poll<Result> {
  callers: Set<Caller<Result>>
  /** Ends the current delay. */
  wake: () => void
}

/**
 * Creates a poll with back-off that callers waiting for the same name share. Polls the database rather than listening
 * to the manager, because another replica may do the work.
 * @param check resolves with the result, or undefined if it is not there yet
 * @returns a function that resolves with the first result of a poll that began after its call; rejects with the error
 * of `check`, or with the signal's reason
 */
export function createSharedPoll<Result>(
  check: (name: string) => Promise<Result | undefined>,
): (name: string, signal?: AbortSignal) => Promise<Result> {
  const polls = new Map<string, Poll<Result>>()

  async function run(name: string, poll: Poll<Result>): Promise<void> {
    let delay = INITIAL_DELAY_MS
    while (poll.callers.size > 0) {
      // A caller that arrives during a poll may have changed its result, and waits for the next one.
      const current = [...poll.callers]
      try {
        const result = await check(name)
        if (result !== undefined) for (const { resolve } of current) resolve(result)
      } catch (error) {
        for (const { reject } of current) reject(error)
      }
      const wasWoken = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), delay)
        poll.wake = () => {
          clearTimeout(timer)
          resolve(true)
        }
        if ([...poll.callers].some((caller) => !current.includes(caller))) poll.wake()
      })
      delay = wasWoken ? INITIAL_DELAY_MS : Math.min(MAX_DELAY_MS, BACK_OFF_FACTOR * delay)
    }
    polls.delete(name)
  }

  return async (name, signal) => {
    signal?.throwIfAborted()
    let poll = polls.get(name)
    const isFirst = poll === undefined
    poll ??= { callers: new Set(), wake: () => undefined }
    const { callers } = poll
    polls.set(name, poll)
    let caller: Caller<Result> | undefined
    const onAbort = () => caller?.reject(signal?.reason)
    try {
      return await new Promise<Result>((resolve, reject) => {
        caller = { resolve, reject }
        callers.add(caller)
        signal?.addEventListener('abort', onAbort)
        if (isFirst) void run(name, poll)
        else poll.wake()
      })
    } finally {
      signal?.removeEventListener('abort', onAbort)
      if (caller) callers.delete(caller)
      if (callers.size === 0) poll.wake()
    }
  }
}
