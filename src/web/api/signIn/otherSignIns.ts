import type { WrongCodes } from '../../../contract/signIn/auth'
import type { LoginStep, PasskeyOptionsResponse, VerifyRecoveryCode } from '../../../contract/signIn/signInMethods'
import type { Services } from '../../app/services'
import { badResponse } from '../../failure'
import { api } from '../api'
import { stepExpired, storeSession } from './auth'
import { readPendingLogin } from './credentials'
import { promptPasskey } from './passkeyPrompts'

/** Passkeys and recovery codes. Loaded on first use. Only our platform has these calls. */
export const otherSignInsApi = api.injectEndpoints({
  endpoints: (build) => ({
    /** A passkey alone, or as the second step of the login that `login` stored. */
    signInWithPasskey: build.mutation<WrongCodes | null, 'alone' | 'step'>({
      async queryFn(use, { extra }, _options, request) {
        const services = extra as Services
        let step: LoginStep | object = {}
        if (use === 'step') {
          const pending = readPendingLogin(services)
          if (!pending) return { error: stepExpired }
          step = pending
        }
        const asked = await request({
          url: use === 'step' ? 'auth/passkey-options' : 'auth/passkey-login-options',
          method: 'POST',
          body: step,
        })
        if (asked.error) return { error: asked.error }
        const options = (asked.data as Partial<PasskeyOptionsResponse> | null)?.data?.options
        if (!options) return { error: badResponse }
        const { data: response, error } = await promptPasskey(options)
        if (error) return { error }
        return storeSession(
          services,
          await request({
            url: use === 'step' ? 'auth/verify-passkey' : 'auth/passkey-login',
            method: 'POST',
            body: { ...step, response },
          }),
        )
      },
    }),

    verifyRecoveryCode: build.mutation<WrongCodes | null, { recoveryCode: string }>({
      async queryFn({ recoveryCode }, { extra }, _options, request) {
        const services = extra as Services
        const pending = readPendingLogin(services)
        if (!pending) return { error: stepExpired }
        const body: VerifyRecoveryCode = { ...pending, recoveryCode }
        return storeSession(services, await request({ url: 'auth/verify-recovery-code', method: 'POST', body }))
      },
    }),
  }),
})

export const { useVerifyRecoveryCodeMutation } = otherSignInsApi
