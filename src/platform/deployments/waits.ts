/** Pauses between askings grow from the first to the last. In milliseconds. */
const FIRST_PAUSE_MS = 100
const LAST_PAUSE_MS = 1000
const GROWTH = 1.5

interface Waiter<Answer> {
  answered: (answer: Answer) => void
  failed: (error: unknown) => void
}

interface Wait<Answer> {
  waiters: Set<Waiter<Answer>>
  /** Has it asked at once, where it pauses. */
  wake: () => void
}

/**
 * Waits for something about a name until it has come about. It is asked for by the state, because another replica may be the
 * one that does the work; once for all who wait for the same name, and ever more seldom.
 * @param ask undefined: not yet.
 * @returns a function that resolves with the first answer of an asking that began after its call; it throws what the asking
 * throws, and the signal's reason when nobody waits any more.
 */
export function shareWaits<Answer>(
  ask: (name: string) => Promise<Answer | undefined>,
): (name: string, signal?: AbortSignal) => Promise<Answer> {
  const waits = new Map<string, Wait<Answer>>()

  async function go(name: string, wait: Wait<Answer>): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; wait.waiters.size > 0;) {
      // Who comes while it is asked may have made the answer another one.
      const asking = [...wait.waiters]
      try {
        const answer = await ask(name)
        if (answer !== undefined) for (const { answered } of asking) answered(answer)
      } catch (error) {
        for (const { failed } of asking) failed(error)
      }
      const wasWoken = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), pause)
        wait.wake = () => {
          clearTimeout(timer)
          resolve(true)
        }
        if ([...wait.waiters].some((waiter) => !asking.includes(waiter))) wait.wake()
      })
      pause = wasWoken ? FIRST_PAUSE_MS : Math.min(LAST_PAUSE_MS, GROWTH * pause)
    }
    waits.delete(name)
  }

  return async (name, signal) => {
    signal?.throwIfAborted()
    let wait = waits.get(name)
    const isFirst = wait === undefined
    wait ??= { waiters: new Set(), wake: () => undefined }
    const { waiters } = wait
    waits.set(name, wait)
    let waiter: Waiter<Answer> | undefined
    const hungUp = () => waiter?.failed(signal?.reason)
    try {
      return await new Promise<Answer>((answered, failed) => {
        waiter = { answered, failed }
        waiters.add(waiter)
        signal?.addEventListener('abort', hungUp)
        if (isFirst) void go(name, wait)
        else wait.wake()
      })
    } finally {
      signal?.removeEventListener('abort', hungUp)
      if (waiter) waiters.delete(waiter)
      if (waiters.size === 0) wait.wake()
    }
  }
}
