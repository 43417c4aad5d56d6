import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** How often the memory is looked at. */
const EVERY_MS = 10

/** What of JavaScript's objects and buffers a collection does not give back. In bytes. */
export function heldNow(): number {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  // Twice: what buffers took is given back on another thread, and the second waits for that of the first.
  gc()
  gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * Runs a piece of work and throws where the process holds more memory because of it than some bytes, whenever it is looked at: every few milliseconds while
 * something is waited for. Held is what of JavaScript's objects and buffers a collection does not give back. The resident size would count the garbage of
 * the tests before as well, and fail by when the collector happens to run.
 */
export async function expectHeldUnder(bytes: number, work: () => Promise<void>): Promise<void> {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  /** Twice: what buffers took is given back on another thread, and the second waits for that of the first. */
  const collect = () => (gc(), gc())
  const used = () => {
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  collect()
  const before = used()
  let most = 0
  const look = () => {
    if (used() - before < bytes) return
    collect()
    most = Math.max(most, used() - before)
  }
  const timer = setInterval(look, EVERY_MS)
  try {
    await work()
    look()
  } finally {
    clearInterval(timer)
  }
  if (most >= bytes)
    throw new Error(
      `The work held ${Math.round(most / 2 ** 20)} MiB, and may hold less than ${Math.round(bytes / 2 ** 20)} MiB.`,
    )
}
