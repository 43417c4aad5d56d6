import type { SignInMethodsAnswer } from '../../../contract/signIn/auth'
import { api } from '../api'
import type { DataOf } from '../transport/answerSchema'
import { answerSchema } from '../transport/answerSchema'

/**
 * Separate from auth.ts, because the first paint of the login page does not need it. Only our platform has this call.
 */
const signInMethodsApi = api.injectEndpoints({
  endpoints: (build) => ({
    getSignInMethods: build.query<SignInMethodsAnswer['data'], void>({
      query: () => 'auth/methods',
      responseSchema: answerSchema((methods: DataOf<SignInMethodsAnswer>) => ({
        ...methods,
        passkeys: methods.passkeys === true,
      })),
    }),
  }),
})

export const { useGetSignInMethodsQuery } = signInMethodsApi
