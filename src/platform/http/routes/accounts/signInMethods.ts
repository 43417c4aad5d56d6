import { z } from 'zod'
import { Done, Nothing } from '../../../../contract/envelope'
import {
  ConfirmAuthenticator,
  CreatePasskey,
  NewAuthenticatorResponse,
  OwnMethodsResponse,
  PasskeyOptionsResponse,
  ProofResponse,
  Prove,
  Proven,
  RecoveryCodesResponse,
  RenameMethod,
} from '../../../../contract/signIn/signInMethods'
import type { SignInMethods } from '../../../accounts/signInMethods'
import { addressOf, sessionUserOf } from '../../access'
import { fieldOf, type Activity } from '../../activity'
import { done } from '../../envelope'
import { call } from '../../openapi/call'
import { relyingPartyOf } from '../../relyingParty'
import type { Router } from '../../router'

const ById = z.strictObject({ id: z.uuid() })
const access = 'account' as const

/** Records only a failure of a call. A success is followed by the change, which is recorded. */
const recordedOnFailure = (failure: string) => ({
  access,
  activity: { kind: 'session', action: null, failure } satisfies Activity,
})
const recorded = (action: string, subject?: 'name') => ({
  access,
  activity: { kind: 'session', action, ...(subject && { subject: fieldOf('body', subject) }) } satisfies Activity,
})

interface MethodRouteParts {
  signInMethods: SignInMethods
  publicUrl: string | undefined
}

/**
 * Adds the calls for a user's own sign-in methods (our extras). Each change except a rename needs a proof, which can be
 * used once.
 */
export function signInMethodRoutes(app: Router, parts: MethodRouteParts): void {
  proofRoutes(app, parts)
  addingRoutes(app, parts)
  changingRoutes(app, parts)
}

function proofRoutes(app: Router, { signInMethods, publicUrl }: MethodRouteParts): void {
  app.get(
    '/api/account/methods',
    {
      config: { access },
      schema: { ...call('listSignInMethods', 'List the own sign-in methods'), response: { 200: OwnMethodsResponse } },
    },
    async (request) => done(await signInMethods.list(sessionUserOf(request).userId)),
  )

  app.post(
    '/api/account/proof/passkey-options',
    {
      config: { access, activity: false },
      schema: {
        ...call('getProofOptions', 'Get a passkey challenge that confirms the identity of the user', 'CONFLICT'),
        body: Nothing,
        response: { 200: PasskeyOptionsResponse },
      },
    },
    async (request) => {
      const { userId, sessionId } = sessionUserOf(request)
      const use = { purpose: 'proof' as const, user_id: userId, session_id: sessionId }
      return done({ options: await signInMethods.passkeys.options(relyingPartyOf(request, publicUrl), use) })
    },
  )

  app.post(
    '/api/account/proof',
    {
      config: recordedOnFailure('failed to confirm a change of own password or sign-in methods'),
      schema: {
        ...call(
          'prove',
          'Confirm the identity of the user, for one change of the password or sign-in methods',
          'BAD_CREDENTIALS',
          'INVALID_CODE',
        ),
        body: Prove,
        response: { 200: ProofResponse },
      },
    },
    async (request) => {
      const rp = relyingPartyOf(request, publicUrl)
      return done({
        proof: await signInMethods.prove(sessionUserOf(request), request.body, rp, addressOf(request)),
      })
    },
  )
}

function addingRoutes(app: Router, { signInMethods, publicUrl }: MethodRouteParts): void {
  const { passkeys } = signInMethods

  app.post(
    '/api/account/authenticators',
    {
      config: { access, activity: false },
      schema: {
        ...call('beginAuthenticator', 'Begin to add an authenticator app', 'STEP_EXPIRED'),
        body: Proven,
        response: { 200: NewAuthenticatorResponse },
      },
    },
    async (request) => {
      const user = sessionUserOf(request)
      await signInMethods.takeProof(user, request.body.proof)
      return done(await signInMethods.beginAuthenticator(user))
    },
  )

  app.post(
    '/api/account/authenticators/confirm',
    {
      config: recorded('added authenticator', 'name'),
      schema: {
        ...call('confirmAuthenticator', 'Add the authenticator app', 'STEP_EXPIRED', 'INVALID_CODE', 'CONFLICT'),
        body: ConfirmAuthenticator,
        response: { 200: Done },
      },
    },
    async (request) => {
      await signInMethods.confirmAuthenticator(sessionUserOf(request), request.body)
      return done({})
    },
  )

  app.post(
    '/api/account/passkeys/options',
    {
      config: { access, activity: false },
      schema: {
        ...call('beginPasskey', 'Begin to add a passkey', 'STEP_EXPIRED', 'CONFLICT'),
        body: Proven,
        response: { 200: PasskeyOptionsResponse },
      },
    },
    async (request) => {
      const user = sessionUserOf(request)
      await signInMethods.takeProof(user, request.body.proof)
      return done({ options: await passkeys.creationOptions(user, relyingPartyOf(request, publicUrl)) })
    },
  )

  app.post(
    '/api/account/passkeys',
    {
      config: recorded('added passkey', 'name'),
      schema: {
        ...call('createPasskey', 'Add the passkey', 'BAD_CREDENTIALS', 'CONFLICT'),
        body: CreatePasskey,
        response: { 200: Done },
      },
    },
    async (request) => {
      const { name, response } = request.body
      await passkeys.create(sessionUserOf(request), relyingPartyOf(request, publicUrl), name, response)
      return done({})
    },
  )

  app.post(
    '/api/account/recovery-codes',
    {
      config: recorded('made new recovery codes'),
      schema: {
        ...call('createRecoveryCodes', 'Create ten recovery codes, which replace the previous ones', 'STEP_EXPIRED'),
        body: Proven,
        response: { 200: RecoveryCodesResponse },
      },
    },
    async (request) => {
      const user = sessionUserOf(request)
      await signInMethods.takeProof(user, request.body.proof)
      return done({ codes: await signInMethods.newRecoveryCodes(user.userId) })
    },
  )
}

function changingRoutes(app: Router, { signInMethods }: MethodRouteParts): void {
  for (const [table, noun, type] of [
    ['authenticators', 'authenticator', 'Authenticator'],
    ['passkeys', 'passkey', 'Passkey'],
  ] as const) {
    app.patch(
      `/api/account/${table}/:id`,
      {
        config: recorded(`renamed ${noun}`, 'name'),
        schema: {
          ...call(`rename${type}`, `Rename an own ${noun}`, 'NOT_FOUND'),
          params: ById,
          body: RenameMethod,
          response: { 200: Done },
        },
      },
      async (request) => {
        await signInMethods.rename(sessionUserOf(request).userId, table, request.params.id, request.body.name)
        return done({})
      },
    )

    app.post(
      `/api/account/${table}/:id/remove`,
      {
        config: recorded(`removed ${noun}`),
        schema: {
          ...call(
            `remove${type}`,
            `Remove an own ${noun}, but not the last method`,
            'NOT_FOUND',
            'STEP_EXPIRED',
            'CONFLICT',
          ),
          params: ById,
          body: Proven,
          response: { 200: Done },
        },
      },
      async (request) => {
        const user = sessionUserOf(request)
        await signInMethods.takeProof(user, request.body.proof)
        request.activitySubject = await signInMethods.remove(user.userId, table, request.params.id)
        return done({})
      },
    )
  }
}
