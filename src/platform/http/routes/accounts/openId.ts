import fastifyCookie from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Done } from '../../../../contract/envelope'
import {
  BeginOpenId,
  ConnectOpenIdResponse,
  OpenIdConnectionResponse,
  type OpenIdFailure,
} from '../../../../contract/signIn/openId'
import { WRONG_CODES_COOKIE } from '../../../../contract/pageRules'
import { SESSION_DAYS } from '../../../../contract/rules'
import { Proven } from '../../../../contract/signIn/signInMethods'
import { STEP_MINUTES, type BegunStep, type OpenId } from '../../../accounts/openid/openId'
import { OpenIdProblem } from '../../../accounts/openid/problem'
import type { SignInMethods } from '../../../accounts/signInMethods'
import { AppError } from '../../../errors'
import { clientOf, sessionUserOf } from '../../access'
import { createPublicCallLimit } from '../../limits/callLimit'
import { done } from '../../envelope'
import { call, nothing } from '../../openapi/call'
import type { Router } from '../../router'

const PATH = '/api/auth/oidc'
/**
 * Binds a step to the browser that began it. Steps in several tabs share it, so it is not removed at the end of one. It
 * is not sent with the call that begins a connection, which replaces it.
 */
const COOKIE = 'quarterdeck-oidc'
/** The page on which users connect their account. */
const CONNECTIONS = '/security'

type CookieOptions = Parameters<typeof fastifyCookie.serialize>[2]

const redirected = { 302: nothing }

interface OpenIdRouteParts {
  openId: OpenId | undefined
  signInMethods: Pick<SignInMethods, 'takeProof'>
  publicUrl: string | undefined
  basePath: string
}

/** Adds the calls to sign in by OpenID Connect and to connect an account to the provider (our extras). */
export function openIdRoutes(app: Router, parts: OpenIdRouteParts): void {
  const steps = createSteps(parts)
  signInRoutes(app, steps)
  connectionRoutes(app, parts, steps)
}

const browserOf = ({ headers }: FastifyRequest) => fastifyCookie.parse(headers.cookie ?? '')[COOKIE]

type Steps = ReturnType<typeof createSteps>

/** Shared parts of the calls that redirect a browser to the provider and back. */
function createSteps({ openId, publicUrl, basePath }: OpenIdRouteParts) {
  const limit = createPublicCallLimit()

  const consoleOf = ({ protocol, headers }: FastifyRequest) => publicUrl ?? `${protocol}://${headers.host ?? ''}`
  const redirectUriOf = (request: FastifyRequest) => `${consoleOf(request)}${PATH}/callback`

  function configured(): OpenId {
    if (!openId) throw new OpenIdProblem('not-configured')
    return openId
  }

  const cookie = (request: FastifyRequest, name: string, value: string, options: CookieOptions) =>
    fastifyCookie.serialize(name, value, { secure: consoleOf(request).startsWith('https:'), ...options })

  const stepCookie = (request: FastifyRequest, value: string) =>
    cookie(request, COOKIE, value, {
      path: `${basePath}${PATH}`,
      httpOnly: true,
      // Not `strict`: the navigation to the callback comes from the provider's page.
      sameSite: 'lax',
      maxAge: STEP_MINUTES * 60,
    })

  /** For the console's page: those of its session are as it sets them itself (web/api/signIn/credentials.ts). */
  const pageCookie = (request: FastifyRequest, name: string, value: string, maxAge = SESSION_DAYS * 86_400) =>
    cookie(request, name, value, { path: basePath || '/', sameSite: 'strict', maxAge })

  const begin = async (request: FastifyRequest, work: (openId: OpenId, redirectUri: string) => Promise<BegunStep>) => {
    const redirectUri = redirectUriOf(request)
    if (!URL.canParse(redirectUri))
      throw new AppError(
        'INVALID_INPUT',
        'The Host header of the request is not valid. Use the address of the console.',
      )
    // `URL` drops the protocol's default port: the provider compares redirect URIs as texts.
    return limit(request, () => work(configured(), new URL(redirectUri).href))
  }

  /** Redirects to a page that shows why it failed. The provider's own description is only logged. */
  function sendFailure(request: FastifyRequest, reply: FastifyReply, error: unknown, page: string): FastifyReply {
    const reason = reasonOf(error)
    // Strangers can cause the refusal of a Host header.
    if (reason === 'failed' && !(error instanceof AppError))
      request.log.error({ err: error }, 'a sign-in by OpenID Connect failed')
    else request.log.info({ reason, details: String((error as Error).message) }, 'a sign-in by OpenID Connect failed')
    return reply.redirect(`${basePath}${page}?sso=${reason}`)
  }

  return {
    begin,
    finish: (request: FastifyRequest, browser: string | undefined, query: string) =>
      limit(request, () => configured().finish({ query, browser }, clientOf(request))),
    stepCookie,
    pageCookie,
    redirect: (reply: FastifyReply, path: string) => reply.redirect(`${basePath}${path}`),
    sendFailure,
  }
}

function signInRoutes(app: Router, { begin, finish, stepCookie, pageCookie, redirect, sendFailure }: Steps): void {
  app.get(
    `${PATH}/start`,
    {
      config: { access: 'public' },
      schema: {
        ...call('beginOpenId', 'Sign in by OpenID Connect: redirect the browser to the provider'),
        querystring: BeginOpenId,
        rawResponses: redirected,
      },
    },
    async (request, reply) => {
      try {
        // Another site could embed this address as an image and so use up the attempts of the browser's network. Only
        // navigations may go to the provider.
        const { 'sec-fetch-dest': wanted = 'document' } = request.headers
        if (wanted !== 'document')
          throw new OpenIdProblem('refused', `the browser requested the page as ${String(wanted)}`)
        const origin = request.query.to
        const { page, browser } = await begin(request, (known, redirectUri) =>
          known.begin({ redirectUri, origin, browser: browserOf(request) }, clientOf(request)),
        )
        return reply.header('set-cookie', stepCookie(request, browser)).redirect(page)
      } catch (error) {
        return sendFailure(request, reply, error, '/login')
      }
    },
  )

  app.get(
    `${PATH}/callback`,
    {
      config: { access: 'public' },
      schema: {
        ...call('endOpenId', 'Sign in by OpenID Connect: the callback of the provider'),
        rawResponses: redirected,
      },
    },
    async (request, reply) => {
      const [, query = ''] = request.url.split(/\?(.*)/s)
      try {
        const { session, origin } = await finish(request, browserOf(request), query)
        if (session) {
          const { token, isAdmin, wrongCodes } = session
          reply.header('set-cookie', pageCookie(request, 'token', token))
          reply.header('set-cookie', pageCookie(request, 'isAdmin', isAdmin ? '1' : '0'))
          // The page shows it and removes the cookie.
          if (wrongCodes)
            reply.header(
              'set-cookie',
              pageCookie(request, WRONG_CODES_COOKIE, JSON.stringify(wrongCodes), STEP_MINUTES * 60),
            )
        }
        return await redirect(reply, origin)
      } catch (error) {
        const isConnection = error instanceof OpenIdProblem && error.isConnection
        return sendFailure(request, reply, error, isConnection ? CONNECTIONS : '/login')
      }
    },
  )
}

function connectionRoutes(
  app: Router,
  { openId, signInMethods }: OpenIdRouteParts,
  { begin, stepCookie }: Steps,
): void {
  app.get(
    '/api/account/openid',
    {
      config: { access: 'account' },
      schema: {
        ...call('getOpenIdConnection', 'Check whether the own account is connected to the OpenID Connect provider'),
        response: { 200: OpenIdConnectionResponse },
      },
    },
    async (request) =>
      done(
        openId
          ? { name: openId.name, ...(await openId.connection(sessionUserOf(request).userId)) }
          : { connected: false, own: false },
      ),
  )

  app.post(
    '/api/account/openid',
    {
      // An entry is recorded later, when the provider has confirmed the connection.
      config: {
        access: 'account',
        activity: { kind: 'session', action: null, failure: 'failed to connect own account' },
      },
      schema: {
        ...call(
          'connectOpenId',
          'Begin to connect the own account to the OpenID Connect provider',
          'STEP_EXPIRED',
          'CONFLICT',
          'NOT_CONFIGURED',
        ),
        body: Proven,
        response: { 200: ConnectOpenIdResponse },
      },
    },
    async (request, reply) => {
      const user = sessionUserOf(request)
      const { page, browser } = await begin(request, async (known, redirectUri) => {
        // A proof can be used only once, so the other checks come first.
        if (!(await known.isAvailable())) throw new OpenIdProblem('unavailable')
        if ((await known.connection(user.userId)).connected) throw new OpenIdProblem('has-identity')
        await signInMethods.takeProof(user, request.body.proof)
        return known.begin({ redirectUri, origin: CONNECTIONS, browser: undefined }, clientOf(request), user)
      }).catch((error: unknown) => {
        throw error instanceof OpenIdProblem ? failureOf(error) : error
      })
      reply.header('set-cookie', stepCookie(request, browser))
      return done({ url: page })
    },
  )

  app.delete(
    '/api/account/openid',
    {
      config: {
        access: 'account',
        activity: { kind: 'session', action: `disconnected from ${openId?.name ?? 'single sign-on'}` },
      },
      schema: {
        ...call(
          'disconnectOpenId',
          'Disconnect the own account from the OpenID Connect provider',
          'NOT_FOUND',
          'CONFLICT',
          'NOT_CONFIGURED',
        ),
        response: { 200: Done },
      },
    },
    async (request) => {
      if (!openId) throw failureOf(new OpenIdProblem('not-configured'))
      await openId.disconnect(sessionUserOf(request).userId)
      return done({})
    },
  )
}

function reasonOf(error: unknown): OpenIdFailure {
  if (error instanceof OpenIdProblem) return error.reason
  return error instanceof AppError && error.code === 'TOO_MANY_TRIES' ? 'too-many' : 'failed'
}

/** The error for a call that is not a navigation. */
function failureOf({ reason, message }: OpenIdProblem): unknown {
  if (reason === 'not-configured') return new AppError('NOT_CONFIGURED', 'Single sign-on is not configured.')
  if (reason === 'unavailable')
    return new AppError('UNAVAILABLE', 'The provider of single sign-on does not answer. Try again in a moment.')
  if (reason === 'has-identity') return new AppError('CONFLICT', 'Your account is connected already.')
  return new Error(message)
}
