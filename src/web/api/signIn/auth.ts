import type { Login, LoginResponse, VerifyLogin, VerifyLoginResponse, WrongCodes } from '../../../contract/signIn/auth'
import type { Services } from '../../app/services'
import { api } from '../api'
import { clockProblem } from '../transport/clockProblem'
import { forgetPendingLogin, keepPendingLogin, keepSession, readPendingLogin } from './credentials'
import type { Meta } from '../transport/baseQuery'
import type { ApiFailure } from '../../failure'
import { badResponse } from '../../failure'

type Result = { data?: unknown; error?: ApiFailure | undefined; meta?: Meta | undefined }

/** The second step of a login whose first step is too long ago. */
export const stepExpired: ApiFailure = {
  status: 400,
  message: 'That sign-in took too long. Please go back and start again.',
}

/** Stores the session in the response to the last call of a sign-in. Returns the rest of the response. */
export function storeSession(
  services: Services,
  { data, error, meta }: Result,
): { data: WrongCodes | null } | { error: ApiFailure } {
  if (error) return { error }
  const session = (data as Partial<VerifyLoginResponse> | null)?.data
  if (!keepSession(services, session?.token, session?.isAdmin)) {
    const message = clockProblem(meta?.date, services.now())
    return { error: session?.token && message ? { status: 400, message } : badResponse }
  }
  forgetPendingLogin(services)
  return { data: session?.wrongCodes ?? null }
}

/**
 * Endpoints whose responses contain a token store it with `credentials.ts` and return the rest, so that no token enters
 * the state.
 */
export const authApi = api.injectEndpoints({
  endpoints: (build) => ({
    login: build.mutation<{ username: string }, Login>({
      async queryFn(body: Login, { extra }, _options, request) {
        const { data, error } = await request({ url: 'auth/login', method: 'POST', body })
        if (error) return { error }
        const sessionToken = (data as Partial<LoginResponse> | null)?.data?.sessionToken
        if (!sessionToken) return { error: badResponse }
        keepPendingLogin(extra as Services, { username: body.username, sessionToken })
        return { data: { username: body.username } }
      },
    }),

    /** Second step of the login. The token and the username are those that `login` stored. */
    verifyLogin: build.mutation<WrongCodes | null, { code: string }>({
      async queryFn({ code }, { extra }, _options, request) {
        const services = extra as Services
        const pending = readPendingLogin(services)
        if (!pending) return { error: stepExpired }
        const body: VerifyLogin = { ...pending, token: code }
        return storeSession(services, await request({ url: 'auth/verify-login', method: 'POST', body }))
      },
    }),

    logout: build.mutation<null, void>({
      query: () => ({ url: 'auth/logout', method: 'POST' }),
      transformResponse: () => null,
    }),
  }),
})

export const { useLoginMutation, useVerifyLoginMutation, useLogoutMutation } = authApi
