import type { Logger } from 'pino'
import type { Sessions } from '../accounts/sessions'
import type { SessionUser } from '../state/sessions'

/** How soon a socket is closed after its session has ended or changed, whichever replica did it. In milliseconds. */
const CHECK_MS = 2000

/** Whose session a socket was opened with, as it was then. */
export type Opened = Pick<SessionUser, 'sessionId' | 'isAdmin'>

/**
 * Closes sockets whose session is gone, by logout, expiry, deletion or another password, and those whose user has become
 * administrator or is none any more (decisions §2).
 * @param opened the sessions with open sockets.
 * @param close closes a session's sockets; the session may live on with other rights.
 * @returns a function that ends the watch.
 */
export function watchSessions(
  sessions: Sessions,
  log: Pick<Logger, 'warn'>,
  opened: () => Opened[],
  close: (opened: Opened, livesOn: boolean) => void,
): () => void {
  async function check(): Promise<void> {
    const open = new Map(opened().map((one) => [`${one.sessionId} ${one.isAdmin}`, one]))
    const live = await sessions.live([...new Set([...open.values()].map(({ sessionId }) => sessionId))])
    for (const one of open.values()) if (live.get(one.sessionId) !== one.isAdmin) close(one, live.has(one.sessionId))
  }
  const timer = setInterval(() => {
    check().catch((error: unknown) => log.warn({ err: error }, 'the sessions of sockets could not be checked'))
  }, CHECK_MS)
  return () => clearInterval(timer)
}
