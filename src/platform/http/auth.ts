import {
  Login, LoginAnswer, Register, RegisterAnswer, VerifyInvite, VerifyInviteAnswer, VerifyLogin, VerifyLoginAnswer,
  VerifyRegistration, VerifyRegistrationAnswer,
} from '../../contract/auth'
import { Done, Nothing } from '../../contract/envelope'
import type { Registration } from '../accounts/registration'
import type { Sessions } from '../accounts/sessions'
import type { SignIn } from '../accounts/signIn'
import { clientOf, userOf } from './access'
import { done } from './envelope'
import type { Router } from './router'

/** 1 means administrator. */
const flag = (isAdmin: boolean): 0 | 1 => (isAdmin ? 1 : 0)

export function authRoutes(app: Router, { signIn, registration, sessions }: { signIn: SignIn; registration: Registration; sessions: Sessions }): void {
  const open = { access: 'public' } as const

  app.post('/api/auth/login', { config: open, schema: { body: Login, response: { 200: LoginAnswer } } }, async (request) =>
    done({ sessionToken: await signIn.login(request.body, clientOf(request)) }))

  app.post('/api/auth/verify-login', { config: open, schema: { body: VerifyLogin, response: { 200: VerifyLoginAnswer } } }, async (request) => {
    const { token, isAdmin } = await signIn.verify(request.body, clientOf(request))
    return done({ token, isAdmin: flag(isAdmin) })
  })

  app.post('/api/auth/verify-invite', { config: open, schema: { body: VerifyInvite, response: { 200: VerifyInviteAnswer } } }, async (request) =>
    done({ token: await registration.verifyInvite(request.body.inviteCode, clientOf(request)) }))

  app.post('/api/auth/register', { config: open, schema: { body: Register, response: { 200: RegisterAnswer } } }, async (request) =>
    done(await registration.register(request.body, clientOf(request))))

  app.post('/api/auth/verify-registration', { config: open, schema: { body: VerifyRegistration, response: { 200: VerifyRegistrationAnswer } } }, async (request) => {
    const { loginToken, isAdmin } = await registration.verify(request.body, clientOf(request))
    return done({ loginToken, isAdmin: flag(isAdmin) })
  })

  app.post('/api/auth/logout', { config: { access: 'user' }, schema: { body: Nothing, response: { 200: Done } } }, async (request) => {
    await sessions.end(userOf(request).sessionId)
    return done({})
  })
}
