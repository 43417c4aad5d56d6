import type {
  Register,
  RegisterResponse,
  VerifyInvite,
  VerifyInviteResponse,
  VerifyRegistration,
  VerifyRegistrationResponse,
} from '../../../contract/signIn/auth'
import type { Services } from '../../app/services'
import { api } from '../api'
import { keepSession } from './credentials'
import type { DataOf } from '../transport/dataSchema'
import { dataSchema } from '../transport/dataSchema'

/** Separate from auth.ts, because the login page does not need these calls. */
export const registrationApi = api.injectEndpoints({
  endpoints: (build) => ({
    verifyInvite: build.mutation<{ inviteToken: string }, VerifyInvite>({
      query: (body) => ({ url: 'auth/verify-invite', method: 'POST', body }),
      responseSchema: dataSchema(({ token }: DataOf<VerifyInviteResponse>) =>
        token ? { inviteToken: token } : undefined,
      ),
    }),

    register: build.mutation<RegisterResponse['data'], Register>({
      query: (body) => ({ url: 'auth/register', method: 'POST', body }),
      responseSchema: dataSchema((account: DataOf<RegisterResponse>) =>
        account.qrCode ? (account as RegisterResponse['data']) : undefined,
      ),
    }),

    verifyRegistration: build.mutation<null, VerifyRegistration>({
      async queryFn(body: VerifyRegistration, { extra }, _options, request) {
        const { data, error } = await request({ url: 'auth/verify-registration', method: 'POST', body })
        if (error) return { error }
        const session = (data as Partial<VerifyRegistrationResponse> | null)?.data
        // If the token is missing or unusable, the account still exists and the user signs in by hand.
        keepSession(extra as Services, session?.loginToken, session?.isAdmin)
        return { data: null }
      },
    }),
  }),
})

export const { useVerifyInviteMutation, useRegisterMutation, useVerifyRegistrationMutation } = registrationApi
