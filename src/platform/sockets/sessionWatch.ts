import type { Logger } from 'pino'
import type { Sessions } from '../accounts/sessions'
import type { SessionUser } from '../state/sessions'

/** How soon a socket is closed after any replica ended or changed its session. */
const CHECK_MS = 2000

/** The session of a socket as of its handshake. */
export type SocketSession = Pick<SessionUser, 'sessionId' | 'isAdmin'>

/**
 * Closes sockets whose session has ended (logout, expiry, deletion, password change), and those whose user became or
 * ceased to be an administrator (decisions §2).
 * @param opened the sessions with open sockets
 * @param close closes a session's sockets; `isStillValid` if the session is valid with other rights
 * @returns a function that stops the checks
 */
export function watchSessions(
  sessions: Sessions,
  log: Pick<Logger, 'warn'>,
  opened: () => SocketSession[],
  close: (opened: SocketSession, isStillValid: boolean) => void,
): () => void {
  async function check(): Promise<void> {
    const open = new Map(opened().map((one) => [`${one.sessionId} ${one.isAdmin}`, one]))
    const live = await sessions.findValid([...new Set([...open.values()].map(({ sessionId }) => sessionId))])
    for (const one of open.values()) if (live.get(one.sessionId) !== one.isAdmin) close(one, live.has(one.sessionId))
  }
  const timer = setInterval(() => {
    check().catch((error: unknown) => log.warn({ err: error }, 'failed to check the sessions of sockets'))
  }, CHECK_MS)
  return () => clearInterval(timer)
}
