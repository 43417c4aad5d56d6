import type { SignInMethodsResponse } from '../../../contract/signIn/auth'
import { api } from '../api'
import type { DataOf } from '../transport/dataSchema'
import { dataSchema } from '../transport/dataSchema'

/**
 * Separate from auth.ts, because the first paint of the login page does not need it. Only our platform has this call.
 */
const signInMethodsApi = api.injectEndpoints({
  endpoints: (build) => ({
    getSignInMethods: build.query<SignInMethodsResponse['data'], void>({
      query: () => 'auth/methods',
      responseSchema: dataSchema((methods: DataOf<SignInMethodsResponse>) => ({
        ...methods,
        passkeys: methods.passkeys === true,
      })),
    }),
  }),
})

export const { useGetSignInMethodsQuery } = signInMethodsApi
