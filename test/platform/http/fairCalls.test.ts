import { setTimeout as delay } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import type { Callers } from '../../../src/platform/accounts/callers'
import { forAnyone, guardRoutes } from '../../../src/platform/http/access'
import { AppError } from '../../../src/platform/errors'
import { answerFailures } from '../../../src/platform/http/envelope'
import { authRoutes } from '../../../src/platform/http/routes/accounts/auth'
import { until } from '../../support/platform/until'

let app: FastifyInstance
let inProgress: string[]
/** The most that were in progress at a time, and all that were begun. */
let most: number
let begun: number
let authenticate: () => Promise<void>

beforeEach(async () => {
  inProgress = []
  most = begun = 0
  app = Fastify()
  answerFailures(app)
  guardRoutes(app, {
    async authenticate(token = '') {
      inProgress.push(token)
      begun += 1
      most = Math.max(most, inProgress.length)
      try {
        await authenticate()
        return { userId: 1, username: token, role: 'operator', isAdmin: false, grants: new Map() }
      } finally {
        inProgress.splice(inProgress.indexOf(token), 1)
      }
    },
    known: () => undefined,
    present: async () => undefined,
  } satisfies Pick<Callers, 'authenticate' | 'known' | 'present'>)
  app.get('/api/x', { config: { access: forAnyone('read') } }, async () => ({}))
  await app.ready()
})
afterEach(() => app.close())

const call = async (token: string, remoteAddress: string) =>
  (await app.inject({ url: '/api/x', remoteAddress, headers: { authorization: `Bearer ${token}` } })).statusCode

test('security 69: of hundreds of calls with one token, four are authenticated at a time, and other calls overtake them', async () => {
  let end = () => {}
  const gate = new Promise<void>((resolve) => (end = resolve))
  authenticate = () => gate
  const flood = Array.from({ length: 300 }, () => call('one', '203.0.113.7'))
  await until(() => inProgress.length >= 4)
  authenticate = async () => undefined
  expect(await call('two', '203.0.113.7')).toBe(200)
  end()
  expect(new Set(await Promise.all(flood))).toEqual(new Set([200]))
  // With the one that passed them.
  expect(most).toBe(5)
})

test('security 52: when the state hangs, queued calls fail together with the calls before them', async () => {
  let fail = () => {}
  const hung = new Promise<void>((_resolve, reject) => (fail = () => reject(new AppError('UNAVAILABLE', 'Away.'))))
  authenticate = () => hung
  const calls = Array.from({ length: 40 }, () => call('one', '203.0.113.7'))
  await until(() => inProgress.length >= 4)
  await delay(1100)
  fail()
  expect(new Set(await Promise.all(calls))).toEqual(new Set([503]))
  expect(begun).toBe(4)
  // Later ones ask again.
  authenticate = async () => undefined
  expect(await call('one', '203.0.113.7')).toBe(200)
})

test('security 69: of hundreds of calls with different tokens, sixteen from one network are authenticated at a time', async () => {
  let end = () => {}
  const gate = new Promise<void>((resolve) => (end = resolve))
  authenticate = () => gate
  const flood = Array.from({ length: 300 }, (_call, at) => call(`forged-${at}`, '203.0.113.7'))
  await until(() => inProgress.length >= 16)
  authenticate = async () => undefined
  expect(await call('two', '198.51.100.9')).toBe(200)
  end()
  await Promise.all(flood)
  expect(most).toBe(17)
})

test('security 69: of hundreds of sign-ins from one network, four are checked at a time, and those from others overtake them', async () => {
  const open = Fastify()
  open.setValidatorCompiler(validatorCompiler)
  open.setSerializerCompiler(serializerCompiler)
  let end = () => {}
  const gate = new Promise<void>((resolve) => (end = resolve))
  let checking = 0
  let mostChecked = 0
  const login = async ({ username }: { username: string }) => {
    mostChecked = Math.max(mostChecked, (checking += 1))
    if (username === 'flood') await gate
    checking -= 1
    return 'token'
  }
  authRoutes(open, { signIn: { login } } as unknown as Parameters<typeof authRoutes>[1])
  const signIn = async (username: string, remoteAddress: string) =>
    (await open.inject({ method: 'POST', url: '/api/auth/login', remoteAddress, payload: { username, password: 'x' } }))
      .statusCode
  await open.ready()
  const flood = Array.from({ length: 300 }, () => signIn('flood', '203.0.113.7'))
  await until(() => checking >= 4)
  expect(await signIn('ann', '198.51.100.9')).toBe(200)
  end()
  expect(new Set(await Promise.all(flood))).toEqual(new Set([200]))
  // With the one that passed them.
  expect(mostChecked).toBe(5)
  await open.close()
})

test('security 245: calls of others that wait do not fail with the calls of a network that waited too long', async () => {
  let end = () => {}
  const gate = new Promise<void>((resolve) => (end = resolve))
  authenticate = () => gate
  const flood = Array.from({ length: 17 }, (_call, at) => call(`forged-${at}`, '203.0.113.7'))
  await until(() => inProgress.length >= 16)
  // The seventeenth waits for its network until it fails, and meanwhile others wait for their token.
  const others = delay(2000).then(() => {
    authenticate = () => delay(3000)
    return Promise.all(Array.from({ length: 5 }, () => call('two', '198.51.100.9')))
  })
  await delay(4200)
  end()
  expect((await Promise.all(flood)).sort()).toEqual([...Array<number>(16).fill(200), 503])
  expect(await others).toEqual([200, 200, 200, 200, 200])
}, 20_000)

test('security 52: while sessions cannot be checked, queued calls fail without a time-out of their own', async () => {
  authenticate = async () => {
    await delay(4200)
    throw new Error('Query read timeout')
  }
  const statuses = await Promise.all(Array.from({ length: 40 }, () => call('one', '203.0.113.7')))
  expect(new Set(statuses)).toEqual(new Set([503]))
  expect(begun).toBe(4)
}, 20_000)
