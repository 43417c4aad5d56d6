const EVERY_MS = 10
/** A longer gap between two ticks means that the process was suspended. */
const MOST_MS = 50

/**
 * Measures how long the work took in milliseconds, without the time in which the process or the machine was suspended.
 */
export async function awakeMs(work: () => Promise<unknown>): Promise<number> {
  let [took, last] = [0, performance.now()]
  const look = () => {
    const now = performance.now()
    took += Math.min(now - last, MOST_MS)
    last = now
  }
  const timer = setInterval(look, EVERY_MS)
  try {
    await work()
  } finally {
    look()
    clearInterval(timer)
  }
  return took
}
