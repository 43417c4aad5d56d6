import type {
  Register,
  RegisterAnswer,
  VerifyInvite,
  VerifyInviteAnswer,
  VerifyRegistration,
  VerifyRegistrationAnswer,
} from '../../../contract/signIn/auth'
import type { Services } from '../../app/services'
import { api } from '../api'
import { keepSession } from './credentials'
import type { DataOf } from '../transport/answerSchema'
import { answerSchema } from '../transport/answerSchema'

/** Separate from auth.ts, because the login page does not need these calls. */
export const registrationApi = api.injectEndpoints({
  endpoints: (build) => ({
    verifyInvite: build.mutation<{ inviteToken: string }, VerifyInvite>({
      query: (body) => ({ url: 'auth/verify-invite', method: 'POST', body }),
      responseSchema: answerSchema(({ token }: DataOf<VerifyInviteAnswer>) =>
        token ? { inviteToken: token } : undefined,
      ),
    }),

    register: build.mutation<RegisterAnswer['data'], Register>({
      query: (body) => ({ url: 'auth/register', method: 'POST', body }),
      responseSchema: answerSchema((account: DataOf<RegisterAnswer>) =>
        account.qrCode ? (account as RegisterAnswer['data']) : undefined,
      ),
    }),

    verifyRegistration: build.mutation<null, VerifyRegistration>({
      async queryFn(body: VerifyRegistration, { extra }, _options, request) {
        const { data, error } = await request({ url: 'auth/verify-registration', method: 'POST', body })
        if (error) return { error }
        const session = (data as Partial<VerifyRegistrationAnswer> | null)?.data
        // If the token is missing or unusable, the account still exists and the user signs in by hand.
        keepSession(extra as Services, session?.loginToken, session?.isAdmin)
        return { data: null }
      },
    }),
  }),
})

export const { useVerifyInviteMutation, useRegisterMutation, useVerifyRegistrationMutation } = registrationApi
