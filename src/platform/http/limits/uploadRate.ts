import type { IncomingMessage } from 'node:http'
import { AppError } from '../../errors'

export interface MinimumRate {
  /** The minimum number of bytes within `ms`. */
  bytes: number
  /** Milliseconds. */
  ms: number
}

/** 16 KiB a minute, 270 bytes a second. Slower uploads hold a file and a connection for too long. */
export const MIN_UPLOAD_RATE: MinimumRate = { bytes: 16 * 2 ** 10, ms: 60_000 }

const CHECKS = 60

/**
 * Aborts an upload that is slower than a minimum rate. Time in which the platform itself does not read (a slow disk)
 * does not count.
 * @returns `tooSlow`, aborted with an AppError TOO_SLOW, and `stop`, to be called when the body is complete
 */
export function enforceUploadRate(
  raw: IncomingMessage,
  { bytes, ms }: MinimumRate = MIN_UPLOAD_RATE,
): { tooSlow: AbortSignal; stop: () => void } {
  const controller = new AbortController()
  let checks = 0
  let windowStart = raw.socket.bytesRead
  // Counts checks, not time: a suspended process must not refuse its uploads when it continues.
  const timer = setInterval(() => {
    const { bytesRead } = raw.socket
    if (bytesRead - windowStart >= bytes) {
      windowStart = bytesRead
      checks = 0
    } else if (!raw.isPaused() && ++checks >= CHECKS) {
      clearInterval(timer)
      controller.abort(new AppError('TOO_SLOW', 'The upload was too slow and was aborted. Nothing was stored.'))
    }
  }, ms / CHECKS)
  return { tooSlow: controller.signal, stop: () => clearInterval(timer) }
}
