/** An instance that ends this often by itself within this time is blocked (decisions §5). */
export const BLOCK_AFTER = 5
const WINDOW_MS = 5 * 60_000
/** In milliseconds. */
export const LONGEST_WAIT_MS = 60_000
/** More of a series make no difference. */
const REMEMBERED = 7

/**
 * What follows when an instance has ended by itself: it is started again after 1, 2, 4 … 60 s, and the fifth end within
 * five minutes blocks it. Five minutes without an end, and the waits are short again.
 * @param before the ends before, milliseconds since the epoch. Those that seem to come later are of a clock that was set back since, and do not count.
 * @param at this one.
 * @returns the ends to remember; when to start again, undefined where it is blocked.
 */
export function afterCrash(before: number[], at: number): { crashes: number[]; startAfter: number | undefined } {
  const earlier = before.filter((time) => time <= at)
  const last = earlier.at(-1) ?? -Infinity
  const crashes = [...(at - last < WINDOW_MS ? earlier : []), at].slice(-REMEMBERED)
  if (recent(crashes) >= BLOCK_AFTER) return { crashes, startAfter: undefined }
  return { crashes, startAfter: at + Math.min(LONGEST_WAIT_MS, 1000 * 2 ** (crashes.length - 1)) }
}

/** Which try follows the last of these ends, counted from 1; the end of try BLOCK_AFTER blocks it. */
export function nextAttempt(crashes: number[]): number {
  return recent(crashes) + 1
}

/** How many of the ends lie within the window before the last one. */
function recent(crashes: number[]): number {
  const last = crashes.at(-1) ?? 0
  return crashes.filter((time) => last - time < WINDOW_MS).length
}
