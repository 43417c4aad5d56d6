import type { Services } from '../../app/services'
import type { Session } from '../../facts'
import { roleChanged, sessionEnded } from '../../facts'
import { bearerToken, keepAdmin } from '../signIn/credentials'
import type { ApiFailure } from '../../failure'

/** The part of the state that a call needs. The type `RootState` would create an import cycle. */
type SessionState = { session: { current: Session | null } }
type Api = {
  dispatch: (action: ReturnType<typeof sessionEnded | typeof roleChanged>) => unknown
  getState: () => unknown
  extra: unknown
}

/**
 * Makes a call with the bearer token of the signed-in user. Only this function ends the session on a 401 and updates
 * the user's role: `send` passes on the role that the response reports.
 */
export async function callWithSession<Result extends { error?: ApiFailure }>(
  { dispatch, getState, extra }: Api,
  send: (token: string | undefined, onRole: (role: string | null) => void) => Promise<Result>,
): Promise<Result | { error: ApiFailure }> {
  const services = extra as Services
  const session = () => (getState() as SessionState).session.current
  const token = bearerToken(services)
  if (!token && session()) {
    dispatch(sessionEnded('gone'))
    return { error: { status: 401 } }
  }

  let role: string | null = null
  const result = await send(token, (reportedRole) => {
    role = reportedRole
  })
  const current = session()
  // A response to an old token says nothing about the new session.
  if (current && token === bearerToken(services)) {
    const isAdmin = role === 'admin'
    if (result.error?.status === 401) dispatch(sessionEnded('refused'))
    else if (role && isAdmin !== current.isAdmin) {
      keepAdmin(services, isAdmin, current.expiresAt)
      dispatch(roleChanged(isAdmin))
    }
  }
  return result
}
