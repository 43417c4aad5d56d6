/** An instance that ends this often by itself within this time is blocked (decisions §5). */
const BLOCK_AFTER = 5
const WINDOW_MS = 5 * 60_000
const LONGEST_WAIT_MS = 60_000

/**
 * What follows when an instance has ended by itself: it is started again after 1, 2, 4 … 60 s, and the fifth end within
 * five minutes blocks it.
 * @param earlier the ends before, milliseconds since the epoch.
 * @param at this one.
 */
export function afterCrash(earlier: number[], at: number): { crashes: number[]; startAfter: number | undefined } {
  const crashes = [...earlier.filter((time) => at - time < WINDOW_MS), at]
  if (crashes.length >= BLOCK_AFTER) return { crashes, startAfter: undefined }
  return { crashes, startAfter: at + Math.min(LONGEST_WAIT_MS, 1000 * 2 ** (crashes.length - 1)) }
}
