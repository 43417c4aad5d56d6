import type { RootState, Services } from '../app/types'
import { adminLearned, sessionEnded } from '../facts'
import { bearerToken, keepAdmin } from './credentials'
import type { ApiFailure } from './failure'

type Api = {
  dispatch: (action: ReturnType<typeof sessionEnded | typeof adminLearned>) => unknown
  getState: () => unknown
  extra: unknown
}

/**
 * Makes a call with the bearer token of whoever is signed in. The only place that ends a session on 401, and that learns
 * what its user may do by now: `send` hands on the role that the answer tells, if it does.
 */
export async function asUser<Result extends { error?: ApiFailure }>(
  { dispatch, getState, extra }: Api,
  send: (token: string | undefined, onRole: (role: string | null) => void) => Promise<Result>,
): Promise<Result | { error: ApiFailure }> {
  const services = extra as Services
  const session = () => (getState() as RootState).session.current
  const token = bearerToken(services)
  if (!token && session()) {
    dispatch(sessionEnded('gone'))
    return { error: { status: 401 } }
  }

  let role: string | null = null
  const result = await send(token, (told) => {
    role = told
  })
  const current = session()
  // An answer to a token that was replaced meanwhile says nothing about the new session.
  if (current && token === bearerToken(services)) {
    const isAdmin = role === 'admin'
    if (result.error?.status === 401) dispatch(sessionEnded('refused'))
    else if (role && isAdmin !== current.isAdmin) {
      keepAdmin(services, isAdmin, current.expiresAt)
      dispatch(adminLearned(isAdmin))
    }
  }
  return result
}
