import type { FastifyRequest } from 'fastify'
import {
  Login,
  LoginResponse,
  Register,
  RegisterResponse,
  SignInMethodsResponse,
  VerifyInvite,
  VerifyInviteResponse,
  VerifyLogin,
  VerifyLoginResponse,
  VerifyRegistration,
  VerifyRegistrationResponse,
} from '../../../../contract/signIn/auth'
import { Done, Nothing } from '../../../../contract/envelope'
import type { OpenId } from '../../../accounts/openid/openId'
import type { Registration } from '../../../accounts/registration'
import type { Sessions } from '../../../accounts/sessions'
import type { SignedIn, SignIn } from '../../../accounts/signIn'
import { AppError } from '../../../errors'
import { clientOf, sessionUserOf } from '../../access'
import type { Activity } from '../../activity'
import { createPublicCallLimit, type PublicCallLimit } from '../../limits/callLimit'
import { done } from '../../envelope'
import { relyingPartyOf } from '../../relyingParty'
import { call } from '../../openapi/call'
import type { Router } from '../../router'

const adminFlag = (isAdmin: boolean): 0 | 1 => (isAdmin ? 1 : 0)

const failedToSignIn = ({ activitySubject }: FastifyRequest) =>
  activitySubject === undefined ? 'failed to sign in' : 'failed to sign in as'

/** A correct password is not recorded, because the code follows. */
const firstStep: Activity = { kind: 'session', action: null, failure: failedToSignIn }
export const secondStep: Activity = { kind: 'session', action: 'signed in', failure: failedToSignIn }
const inviteTried: Activity = { kind: 'invite', action: null, failure: 'tried an invite code that is not valid' }
const registered: Activity = { kind: 'user', action: 'registered', failure: 'failed to register' }

const publicCall = (activity: Activity) => ({ access: 'public' as const, activity })

/** Records the username of a failed attempt if the user exists. Otherwise it may be a mistyped password. */
export async function withAttemptedUser<Result>(
  signIn: Pick<SignIn, 'usernameOf'>,
  request: FastifyRequest<{ Body: { username: string } }>,
  attempt: () => Promise<Result>,
): Promise<Result> {
  try {
    return await attempt()
  } catch (error) {
    const isWrong =
      error instanceof AppError && ['BAD_CREDENTIALS', 'INVALID_CODE', 'STEP_EXPIRED'].includes(error.code)
    if (isWrong) request.activitySubject = await signIn.usernameOf(request.body.username).catch(() => undefined)
    throw error
  }
}

/** The response to a finished sign-in, which the activity log records. */
export function signedIn(request: FastifyRequest, { token, username, isAdmin, wrongCodes }: SignedIn) {
  request.activityActor = username
  return done({ token, isAdmin: adminFlag(isAdmin), wrongCodes })
}

export interface SignInParts {
  signIn: SignIn
  registration: Registration
  sessions: Sessions
  openId: Pick<OpenId, 'name' | 'isAvailable'> | undefined
  /** The console's public address, if it is configured. */
  publicUrl: string | undefined
}

/** Adds the calls to sign in, sign out and register (product §7, Authentication). */
export function authRoutes(app: Router, parts: SignInParts): void {
  const limit = createPublicCallLimit()
  signInRoutes(app, parts, limit)
  registrationRoutes(app, parts.registration, limit)

  app.post(
    '/api/auth/logout',
    {
      config: { access: 'account', activity: { kind: 'session', action: 'signed out' } },
      schema: { ...call('logOut', 'End this session'), body: Nothing, response: { 200: Done } },
    },
    async (request) => {
      await parts.sessions.end(sessionUserOf(request).sessionId)
      return done({})
    },
  )
}

function signInRoutes(app: Router, { signIn, openId, publicUrl }: SignInParts, limit: PublicCallLimit): void {
  const attempted = <Result>(request: FastifyRequest<{ Body: { username: string } }>, work: () => Promise<Result>) =>
    withAttemptedUser(signIn, request, () => limit(request, work))

  app.get(
    '/api/auth/methods',
    {
      config: { access: 'public' },
      schema: {
        ...call('getSignInMethods', 'Get the sign-in methods that are available besides the password'),
        response: { 200: SignInMethodsResponse },
      },
    },
    async (request) =>
      done({
        passkeys: relyingPartyOf(request, publicUrl) !== undefined,
        ...(openId && { openId: { name: openId.name, available: await openId.isAvailable() } }),
      }),
  )

  app.post(
    '/api/auth/login',
    {
      config: publicCall(firstStep),
      schema: {
        ...call('logIn', 'Sign in, first step: the password', 'BAD_CREDENTIALS'),
        body: Login,
        response: { 200: LoginResponse },
      },
    },
    async (request) =>
      done({ sessionToken: await attempted(request, () => signIn.login(request.body, clientOf(request))) }),
  )

  app.post(
    '/api/auth/verify-login',
    {
      config: publicCall(secondStep),
      schema: {
        ...call('verifyLogIn', 'Sign in, second step: the one-time code', 'INVALID_CODE', 'STEP_EXPIRED'),
        body: VerifyLogin,
        response: { 200: VerifyLoginResponse },
      },
    },
    async (request) => {
      return signedIn(request, await attempted(request, () => signIn.confirmSignIn(request.body, clientOf(request))))
    },
  )
}

function registrationRoutes(app: Router, registration: Registration, limit: PublicCallLimit): void {
  app.post(
    '/api/auth/verify-invite',
    {
      config: publicCall(inviteTried),
      schema: {
        ...call('verifyInvite', 'Register, first step: the invite code', 'INVALID_INVITE'),
        body: VerifyInvite,
        response: { 200: VerifyInviteResponse },
      },
    },
    async (request) =>
      done({
        token: await limit(request, () => registration.verifyInvite(request.body.inviteCode, clientOf(request))),
      }),
  )

  app.post(
    '/api/auth/register',
    {
      config: publicCall(false),
      schema: {
        ...call('register', 'Register, second step: the name and the password', 'STEP_EXPIRED', 'NAME_TAKEN'),
        body: Register,
        response: { 200: RegisterResponse },
      },
    },
    async (request) => done(await limit(request, () => registration.register(request.body, clientOf(request)))),
  )

  app.post(
    '/api/auth/verify-registration',
    {
      config: publicCall(registered),
      schema: {
        ...call(
          'verifyRegistration',
          'Register, third step: the first one-time code',
          'INVALID_INVITE',
          'INVALID_CODE',
          'STEP_EXPIRED',
          'NAME_TAKEN',
        ),
        body: VerifyRegistration,
        response: { 200: VerifyRegistrationResponse },
      },
    },
    async (request) => {
      const { loginToken, isAdmin } = await limit(request, () =>
        registration.confirmRegistration(request.body, clientOf(request)),
      )
      request.activityActor = request.body.username
      return done({ loginToken, isAdmin: adminFlag(isAdmin) })
    },
  )
}
