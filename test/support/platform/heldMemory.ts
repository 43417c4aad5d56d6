import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The interval between two measurements. */
const EVERY_MS = 10

/** The size in bytes of JavaScript objects and buffers that a garbage collection keeps. */
export function heldNow(): number {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  // Twice, because buffers are freed on another thread, and the second collection waits for that of the first.
  gc()
  gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * Runs the work and throws if it makes the process hold more than this number of bytes at any measurement; measures
 * every few milliseconds. Counts JavaScript objects and buffers that a garbage collection keeps: the resident size
 * would include garbage of earlier tests.
 */
export async function expectHeldUnder(bytes: number, work: () => Promise<void>): Promise<void> {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  /** Twice, because buffers are freed on another thread, and the second collection waits for that of the first. */
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
