import type { Logger } from 'pino'
import type { Sessions } from '../accounts/sessions'

/** How soon a socket is closed after its session has ended, whichever replica ended it. In milliseconds. */
const CHECK_MS = 2000

/**
 * Closes sockets whose session is gone: by logout, expiry, deletion or demotion.
 * @param ids of the sessions with open sockets.
 * @param close closes the sockets of one.
 * @returns a function that ends the watch.
 */
export function watchSessions(sessions: Sessions, log: Pick<Logger, 'warn'>, ids: () => string[], close: (id: string) => void): () => void {
  async function check(): Promise<void> {
    const open = [...new Set(ids())]
    const live = await sessions.live(open)
    for (const id of open) if (!live.has(id)) close(id)
  }
  const timer = setInterval(() => {
    check().catch((error: unknown) => log.warn({ err: error }, 'the sessions of sockets could not be checked'))
  }, CHECK_MS)
  return () => clearInterval(timer)
}
