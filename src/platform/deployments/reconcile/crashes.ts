/** An instance that crashes this often within the window is blocked (decisions §5). */
export const BLOCK_AFTER = 5
const WINDOW_MS = 5 * 60_000
/** Upper limit of the restart delay. */
export const MAX_RESTART_DELAY_MS = 60_000
/** Older crashes do not change the delay, which has reached its limit by then. */
const MAX_STORED_CRASHES = 7

/**
 * What follows a crash: a restart with back-off (1, 2, 4 … 60 s), or blocking after the fifth crash within five
 * minutes. Five minutes without a crash reset the back-off.
 * @param before times of earlier crashes; those after `at` are ignored, because the clock was set back
 * @returns the crashes to store, and the time of the restart, undefined to block the instance
 */
export function nextStartAfterCrash(
  before: number[],
  at: number,
): { crashes: number[]; startAfter: number | undefined } {
  const earlier = before.filter((time) => time <= at)
  const last = earlier.at(-1) ?? -Infinity
  const crashes = [...(at - last < WINDOW_MS ? earlier : []), at].slice(-MAX_STORED_CRASHES)
  if (recent(crashes) >= BLOCK_AFTER) return { crashes, startAfter: undefined }
  return { crashes, startAfter: at + restartDelayMs(crashes.length) }
}

/** Exponential back-off: 1, 2, 4 … 60 s. @param failures how many there were in a row, at least 1 */
export function restartDelayMs(failures: number): number {
  return Math.min(MAX_RESTART_DELAY_MS, 1000 * 2 ** (failures - 1))
}

/** The one-based number of the start attempt after these crashes; after BLOCK_AFTER crashes there is none. */
export function attemptNumber(crashes: number[]): number {
  return recent(crashes) + 1
}

/** Counts the crashes within the window before the last one. */
function recent(crashes: number[]): number {
  const last = crashes.at(-1) ?? 0
  return crashes.filter((time) => last - time < WINDOW_MS).length
}
