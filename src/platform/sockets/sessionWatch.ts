import type { Logger } from 'pino'
import type { Sessions } from '../accounts/sessions'
import { createSharedRead } from '../concurrency/sharedRead'
import type { SessionUser } from '../state/accounts/sessions'

/** Between checks without a reason. Expired sessions are found by them alone. */
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
  async function closeEnded(): Promise<void> {
    const open = new Map(opened().map((one) => [`${one.sessionId} ${one.isAdmin}`, one]))
    const live = await sessions.findValid([...new Set([...open.values()].map(({ sessionId }) => sessionId))])
    for (const one of open.values()) if (live.get(one.sessionId) !== one.isAdmin) close(one, live.has(one.sessionId))
  }
  // One at a time. A change during a check is found by the next one.
  const closeInTurn = createSharedRead(closeEnded)
  const check = () =>
    void closeInTurn().catch((error: unknown) => log.warn({ err: error }, 'failed to check the sessions of sockets'))
  const timer = setInterval(check, CHECK_MS)
  const unwatch = sessions.onChange(check)
  return () => {
    clearInterval(timer)
    unwatch()
  }
}
