import type { ConsoleLine } from './lineBuffer'
import { KEPT_LENGTH, KEPT_LINES, lengthOf, newestOf } from './lineBuffer'
import { nextFrame } from './nextFrame'

/** Throttle: when more lines than this are pending, they are dispatched less often, so that typing stays responsive. */
const FLOOD_LINES = 50
const FLOOD_MS = 100
/** After a keystroke within this time the throttle interval is doubled, so that the input is painted first. */
const TYPING_MS = 50

export type LineBatchOptions = {
  onFrame?: typeof nextFrame | undefined
  /** Milliseconds since the last keystroke. */
  sinceKey: () => number
}

/** Collects lines and passes them to `flushed`, at most once per animation frame. */
export function batchLines(
  flushed: (lines: readonly ConsoleLine[]) => void,
  { onFrame = nextFrame, sinceKey }: LineBatchOptions,
) {
  let pending: ConsoleLine[] = []
  /** In UTF-16 code units. */
  let pendingLength = 0
  let cancelFrame: (() => void) | undefined
  let flushedAt = 0

  const flush = () => {
    const now = performance.now()
    const wait = sinceKey() < TYPING_MS ? 2 * FLOOD_MS : FLOOD_MS
    if (pending.length > FLOOD_LINES && now - flushedAt < wait) {
      cancelFrame = onFrame(flush)
      return
    }
    const lines = pending
    pending = []
    pendingLength = 0
    cancelFrame = undefined
    flushedAt = now
    flushed(lines)
  }

  return {
    add(lines: readonly ConsoleLine[]) {
      for (const line of lines) pending.push(line)
      pendingLength += lengthOf(lines)
      // Pending lines are limited as well, since the buffer would evict the rest.
      if (pending.length > 2 * KEPT_LINES || pendingLength > 2 * KEPT_LENGTH) {
        pending = newestOf(pending)
        pendingLength = lengthOf(pending)
      }
      cancelFrame ??= onFrame(flush)
    },
    /** Drops the pending lines. */
    clear() {
      cancelFrame?.()
      cancelFrame = undefined
      pending = []
      pendingLength = 0
    },
  }
}

/** @returns a function that returns the milliseconds since the last keystroke on the page */
export function watchKeystrokes(): () => number {
  let pressedAt = -Infinity
  addEventListener('keydown', () => (pressedAt = performance.now()), { capture: true, passive: true })
  return () => performance.now() - pressedAt
}
