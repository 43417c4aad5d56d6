import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors'

export interface Pace {
  /** So many bytes have to arrive … */
  bytes: number
  /** … within so much time. In milliseconds. */
  ms: number
}

/** A body that comes slower than this holds a file and a connection for nothing: 16 KiB a minute, 270 bytes a second. */
export const SLOWEST_UPLOAD: Pace = { bytes: 16 * 2 ** 10, ms: 60_000 }

const CHECKS = 60

/**
 * Watches whether a body arrives at a pace that leads somewhere. Time in which the platform itself does not read, because its disk is slow,
 * does not count.
 * @returns `tooSlow`, aborted with an AppError TOO_SLOW, and `stop`, to be called once the body is here.
 */
export function watchPace(
  raw: IncomingMessage,
  { bytes, ms }: Pace = SLOWEST_UPLOAD,
): { tooSlow: AbortSignal; stop: () => void } {
  const controller = new AbortController()
  let checks = 0
  let windowBegan = raw.socket.bytesRead
  // Checks are counted, not time: a process that was stopped for a while accuses nobody.
  const timer = setInterval(() => {
    const { bytesRead } = raw.socket
    if (bytesRead - windowBegan >= bytes) {
      windowBegan = bytesRead
      checks = 0
    } else if (!raw.isPaused() && ++checks >= CHECKS) {
      clearInterval(timer)
      controller.abort(new AppError('TOO_SLOW', 'The upload came too slowly. Nothing of it was stored.'))
    }
  }, ms / CHECKS)
  return { tooSlow: controller.signal, stop: () => clearInterval(timer) }
}
