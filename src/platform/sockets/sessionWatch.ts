import type { Logger } from 'pino'
import { credentialOf, type Caller } from '../caller'
import { hasSameRights, type Callers } from '../accounts/callers'
import { createSharedRead } from '../concurrency/sharedRead'

/** Interval of regular checks. Only these find expired sessions and keys. */
const CHECK_MS = 2000

/**
 * Closes sockets whose session or API key has ended (sign-out, expiry, deletion, password change), and those of users
 * whose rights have changed (decisions §2, §16).
 * @param opened the callers of the open sockets, as of their handshakes
 * @param close closes the sockets of a caller; `isStillValid` if the session or key is valid with other rights
 * @returns a function that stops the checks
 */
export function watchSessions(
  callers: Pick<Callers, 'find' | 'onChange'>,
  log: Pick<Logger, 'warn'>,
  opened: () => Caller[],
  close: (caller: Caller, isStillValid: boolean) => void,
): () => void {
  async function closeEnded(): Promise<void> {
    const open = new Set(opened())
    const present = await callers.find([...new Set([...open].map(credentialOf))])
    for (const caller of open) {
      const now = present.get(credentialOf(caller))
      if (!hasSameRights(caller, now)) close(caller, now !== undefined)
    }
  }
  // One check at a time. A change during a check is found by the next one.
  const closeInTurn = createSharedRead(closeEnded)
  const check = () =>
    void closeInTurn().catch((error: unknown) => log.warn({ err: error }, 'failed to check the sessions of sockets'))
  const timer = setInterval(check, CHECK_MS)
  const unwatch = callers.onChange(check)
  return () => {
    clearInterval(timer)
    unwatch()
  }
}
