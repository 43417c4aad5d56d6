const EVERY_MS = 10
/** Longer than this between two looks, and the process stood still. */
const MOST_MS = 50

/** How long a piece of work took, in milliseconds, without the time in which this process, or the machine, stood still. */
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
