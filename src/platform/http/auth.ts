import {
  Login, LoginAnswer, Register, RegisterAnswer, VerifyInvite, VerifyInviteAnswer, VerifyLogin, VerifyLoginAnswer,
  VerifyRegistration, VerifyRegistrationAnswer,
} from '../../contract/auth'
import { Done, Nothing } from '../../contract/envelope'
import { USERNAME_PATTERN } from '../../contract/rules'
import type { Registration } from '../accounts/registration'
import type { Sessions } from '../accounts/sessions'
import type { SignIn } from '../accounts/signIn'
import type { FastifyRequest } from 'fastify'
import { clientOf, userOf } from './access'
import { fieldOf, type Activity } from './activity'
import { done } from './envelope'
import type { Router } from './router'

/** 1 means administrator. */
const flag = (isAdmin: boolean): 0 | 1 => (isAdmin ? 1 : 0)

/** The username that was tried. What cannot be one may be a password in the wrong field. */
function triedUsername(request: FastifyRequest): string | null {
  const username = fieldOf('body', 'username')(request)
  return username !== undefined && USERNAME_PATTERN.test(username) ? username : null
}

const failedTo = (what: string) => (request: FastifyRequest) => (triedUsername(request) === null ? `failed to ${what}` : `failed to ${what} as`)
/** Once it is known who it is, there is nothing to add. */
const unlessKnown = (request: FastifyRequest) => (request.activityActor === undefined ? triedUsername(request) : null)

/** A right password is not worth an entry, for the code follows. The same for users that exist and that do not. */
const firstStep: Activity = { kind: 'session', action: null, failure: failedTo('sign in'), subject: triedUsername }
const secondStep: Activity = { kind: 'session', action: 'signed in', failure: failedTo('sign in'), subject: unlessKnown }
const inviteTried: Activity = { kind: 'invite', action: null, failure: 'tried an invite code that is not valid' }
const registered: Activity = { kind: 'user', action: 'registered', failure: failedTo('register'), subject: unlessKnown }

/** Signing in and out, and registering (product §7, Authentication). */
export function authRoutes(app: Router, { signIn, registration, sessions }: { signIn: SignIn; registration: Registration; sessions: Sessions }): void {
  const open = (activity: Activity) => ({ access: 'public' as const, activity })

  app.post('/api/auth/login', { config: open(firstStep), schema: { body: Login, response: { 200: LoginAnswer } } }, async (request) =>
    done({ sessionToken: await signIn.login(request.body, clientOf(request)) }))

  app.post('/api/auth/verify-login', { config: open(secondStep), schema: { body: VerifyLogin, response: { 200: VerifyLoginAnswer } } }, async (request) => {
    const { token, username, isAdmin } = await signIn.verify(request.body, clientOf(request))
    request.activityActor = username
    return done({ token, isAdmin: flag(isAdmin) })
  })

  app.post('/api/auth/verify-invite', { config: open(inviteTried), schema: { body: VerifyInvite, response: { 200: VerifyInviteAnswer } } }, async (request) =>
    done({ token: await registration.verifyInvite(request.body.inviteCode, clientOf(request)) }))

  app.post('/api/auth/register', { config: open(false), schema: { body: Register, response: { 200: RegisterAnswer } } }, async (request) =>
    done(await registration.register(request.body, clientOf(request))))

  app.post('/api/auth/verify-registration', { config: open(registered), schema: { body: VerifyRegistration, response: { 200: VerifyRegistrationAnswer } } }, async (request) => {
    const { loginToken, isAdmin } = await registration.verify(request.body, clientOf(request))
    request.activityActor = request.body.username
    return done({ loginToken, isAdmin: flag(isAdmin) })
  })

  app.post('/api/auth/logout', { config: { access: 'user', activity: { kind: 'session', action: 'signed out' } }, schema: { body: Nothing, response: { 200: Done } } }, async (request) => {
    await sessions.end(userOf(request).sessionId)
    return done({})
  })
}
