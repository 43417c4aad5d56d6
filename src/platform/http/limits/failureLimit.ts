import type { FastifyInstance } from 'fastify'

const WINDOW_MS = 60_000

interface Window {
  count: number
  address: string
  timer: NodeJS.Timeout
}

/** What a user was refused in a minute beyond the limit. */
interface FurtherFailures {
  username: string
  /** Of the last one. */
  address: string
  count: number
}

/**
 * Limits the failures of a user that the activity log has one by one: nobody can remove an entry within 90 days, so that
 * whoever may call anything could fill the disk with refusals, or hide an act among them.
 * @param perMinute further ones are only counted
 * @param recordFurther called for them at the end of the minute, and when the app closes
 * @returns a function that counts a failure and returns whether it is recorded by itself
 */
export function limitFailures(
  app: FastifyInstance,
  perMinute: number,
  recordFurther: (further: FurtherFailures) => void,
): (username: string, address: string) => boolean {
  const windows = new Map<string, Window>()

  function end(username: string): void {
    const window = windows.get(username)
    if (!window) return
    clearTimeout(window.timer)
    windows.delete(username)
    const count = window.count - perMinute
    if (count > 0) recordFurther({ username, address: window.address, count })
  }

  app.addHook('onClose', async () => {
    for (const username of [...windows.keys()]) end(username)
  })
  return (username, address) => {
    const window = windows.get(username) ?? {
      count: 0,
      address,
      timer: setTimeout(() => end(username), WINDOW_MS).unref(),
    }
    windows.set(username, window)
    window.count += 1
    window.address = address
    return window.count <= perMinute
  }
}
