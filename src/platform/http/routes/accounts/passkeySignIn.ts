import type { FastifyRequest } from 'fastify'
import { VerifyLoginResponse } from '../../../../contract/signIn/auth'
import { Nothing } from '../../../../contract/envelope'
import {
  LoginStep,
  PasskeyLogin,
  PasskeyOptionsResponse,
  VerifyPasskey,
  VerifyRecoveryCode,
} from '../../../../contract/signIn/signInMethods'
import type { SignIn } from '../../../accounts/signIn'
import { clientOf } from '../../access'
import { createPublicCallLimit, type PublicCallLimit } from '../../limits/callLimit'
import { done } from '../../envelope'
import { call } from '../../openapi/call'
import { relyingPartyOf } from '../../relyingParty'
import type { Router } from '../../router'
import { secondStep, signedIn, withAttemptedUser } from './auth'

interface PasskeySignInParts {
  signIn: SignIn
  publicUrl: string | undefined
}

/**
 * Adds the calls to sign in without a one-time code: by a passkey, as second step or alone, or by a recovery code (our
 * extras).
 */
export function passkeySignInRoutes(app: Router, parts: PasskeySignInParts): void {
  const limit = createPublicCallLimit()
  secondStepRoutes(app, parts, limit)
  passkeyOnlyRoutes(app, parts, limit)
}

const challengeCall = { access: 'public' as const, activity: false as const }
const signInCall = { access: 'public' as const, activity: secondStep }

function secondStepRoutes(app: Router, { signIn, publicUrl }: PasskeySignInParts, limit: PublicCallLimit): void {
  const attempted = <Result>(request: FastifyRequest<{ Body: { username: string } }>, work: () => Promise<Result>) =>
    withAttemptedUser(signIn, request, () => limit(request, work))

  app.post(
    '/api/auth/verify-recovery-code',
    {
      config: signInCall,
      schema: {
        ...call('verifyRecoveryCode', 'Sign in, second step: a recovery code', 'INVALID_CODE', 'STEP_EXPIRED'),
        body: VerifyRecoveryCode,
        response: { 200: VerifyLoginResponse },
      },
    },
    async (request) => {
      const { recoveryCode, ...step } = request.body
      return signedIn(
        request,
        await attempted(request, () => signIn.confirmSignIn({ ...step, token: recoveryCode }, clientOf(request))),
      )
    },
  )

  app.post(
    '/api/auth/passkey-options',
    {
      config: challengeCall,
      schema: {
        ...call(
          'getPasskeyOptions',
          'Sign in, second step: a challenge for a passkey of the user',
          'STEP_EXPIRED',
          'CONFLICT',
        ),
        body: LoginStep,
        response: { 200: PasskeyOptionsResponse },
      },
    },
    async (request) =>
      done({
        options: await limit(request, () =>
          signIn.stepPasskeyOptions(request.body, clientOf(request), relyingPartyOf(request, publicUrl)),
        ),
      }),
  )

  app.post(
    '/api/auth/verify-passkey',
    {
      config: signInCall,
      schema: {
        ...call('verifyPasskey', 'Sign in, second step: a passkey', 'BAD_CREDENTIALS', 'STEP_EXPIRED'),
        body: VerifyPasskey,
        response: { 200: VerifyLoginResponse },
      },
    },
    async (request) =>
      signedIn(
        request,
        await attempted(request, () =>
          signIn.confirmWithPasskey(request.body, clientOf(request), relyingPartyOf(request, publicUrl)),
        ),
      ),
  )
}

function passkeyOnlyRoutes(app: Router, { signIn, publicUrl }: PasskeySignInParts, limit: PublicCallLimit): void {
  app.post(
    '/api/auth/passkey-login-options',
    {
      config: challengeCall,
      schema: {
        ...call('getPasskeyLoginOptions', 'Sign in with a passkey alone: the challenge', 'CONFLICT'),
        body: Nothing,
        response: { 200: PasskeyOptionsResponse },
      },
    },
    async (request) =>
      done({
        options: await limit(request, () =>
          signIn.alonePasskeyOptions(clientOf(request), relyingPartyOf(request, publicUrl)),
        ),
      }),
  )

  app.post(
    '/api/auth/passkey-login',
    {
      config: signInCall,
      schema: {
        ...call('logInWithPasskey', 'Sign in with a passkey alone', 'BAD_CREDENTIALS'),
        body: PasskeyLogin,
        response: { 200: VerifyLoginResponse },
      },
    },
    async (request) =>
      signedIn(
        request,
        await limit(request, () =>
          signIn.signInWithPasskey(request.body.response, clientOf(request), relyingPartyOf(request, publicUrl)),
        ),
      ),
  )
}
