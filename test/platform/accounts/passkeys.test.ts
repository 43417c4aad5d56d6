import { randomUUID } from 'node:crypto'
import { isQueryWaiting } from '../../support/platform/isQueryWaiting'
import {
  ORIGIN,
  PASSKEY_HEADERS,
  passkeyCalls,
  type PasskeyOptions as Options,
} from '../../support/platform/passkeyCalls'
import { assertionOf, makePasskey, type SoftPasskey } from '../../support/platform/softAuthenticator'
import { useAccount, usePlatform, type Account, type Answer } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann')
const bob = useAccount(platform, 'bob')
let annKey: SoftPasskey
let bobKey: SoftPasskey

const { post, proofOf, addPasskey, stepOf, optionsOf, aloneOptions, alone, methodsOf } = passkeyCalls(platform)
const refused = { status: 400, body: { code: 'BAD_CREDENTIALS' } }

beforeAll(async () => {
  annKey = await addPasskey(ann())
  bobKey = await addPasskey(bob())
})

test('at an address where passkeys do not work, calls for them get 409 with the reason', async () => {
  const at = { host: '192.0.2.1', origin: 'https://192.0.2.1' }
  for (const [path, body, token] of [
    ['/api/auth/passkey-options', await stepOf(ann()), undefined],
    ['/api/auth/passkey-login-options', {}, undefined],
    ['/api/account/proof/passkey-options', {}, ann().token],
    ['/api/account/passkeys/options', { proof: await proofOf(ann()) }, ann().token],
  ] as const)
    expect({ path, ...(await platform().call('POST', path, { body, token, headers: at })) }).toMatchObject({
      path,
      status: 409,
      body: {
        code: 'CONFLICT',
        message:
          'Passkeys do not work at this address. They need HTTPS and a domain name; only localhost works without.',
      },
    })
})

test('a user has at most 100 challenges: one more ends the oldest', async () => {
  const proofOptions = async () =>
    (await post('/api/account/proof/passkey-options', {}, bob().token)).body.data.options as Options
  const oldest = await proofOptions()
  platform().clock.now += 1
  const second = await proofOptions()
  for (let made = 2; made < 101; made++) {
    platform().clock.now += 1
    await proofOptions()
  }
  const prove = (options: Options) =>
    post('/api/account/proof', { password: bob().password, passkey: assertionOf(bobKey, options, ORIGIN) }, bob().token)
  expect(await prove(oldest)).toMatchObject(refused)
  expect(await prove(second)).toMatchObject({ status: 200 })
})

test('a passkey is the second factor, and the list shows when it was used', async () => {
  const step = await stepOf(ann())
  const options = await optionsOf(step)
  expect(options.allowCredentials).toMatchObject([{ id: annKey.id }])
  const answer = await post('/api/auth/verify-passkey', { ...step, response: assertionOf(annKey, options, ORIGIN) })
  expect(answer).toMatchObject({ status: 200, body: { data: { token: expect.any(String), isAdmin: 1 } } })
  expect((await methodsOf(ann())).passkeys).toMatchObject([{ name: 'Laptop', last_used_at: expect.any(String) }])
})

test.each(['passkey', 'code'])(
  'passkeys that fail in a sign-in with a %s neither use up its tries nor hide the wrong codes of others',
  async (last) => {
    const frank = await platform().register(`frank-${last}`)
    const key = await addPasskey(frank)
    const verify = (step: object, token: string) => post('/api/auth/verify-login', { ...step, token })
    const enterPasskey = async (step: object, origin = ORIGIN) =>
      post('/api/auth/verify-passkey', { ...step, response: assertionOf(key, await optionsOf(step), origin) })
    // Somebody else, who knows the password.
    const other = await stepOf(frank)
    for (let tries = 0; tries < 2; tries++) expect((await verify(other, '000000')).body.code).toBe('INVALID_CODE')
    const step = await stepOf(frank)
    expect((await verify(step, '000000')).body.code).toBe('INVALID_CODE')
    for (let tries = 0; tries < 3; tries++) {
      expect(await enterPasskey(step, 'https://evil.example')).toMatchObject(refused)
      // An address where passkeys do not work.
      const at = { host: '192.0.2.1', origin: 'https://192.0.2.1' }
      const options = await platform().call('POST', '/api/auth/passkey-options', { body: step, headers: at })
      expect(options.status).toBe(409)
    }
    const signedIn =
      last === 'code' ? await verify(step, await platform().nextCode(frank.secret)) : await enterPasskey(step)
    expect(signedIn).toMatchObject({ status: 200, body: { data: { wrongCodes: { count: 2 } } } })
  },
)

test('a passkey that verified its user signs in without a password', async () => {
  expect(await alone(assertionOf(annKey, await aloneOptions(), ORIGIN))).toMatchObject({
    status: 200,
    body: { data: { token: expect.any(String) } },
  })
  const { entries } = await platform().activityLog.list({})
  expect(entries[0]).toMatchObject({ username: 'ann', action: 'signed in', succeeded: true })
})

test('a session opened with a passkey shows the sign-in before it, and the next session shows that one', async () => {
  const signIn = async (path: string, body: object, address: string) =>
    String((await platform().call('POST', path, { body, headers: PASSKEY_HEADERS, address })).body.data.token)
  const previous = async (token: string) =>
    (await platform().call('GET', '/api/account', { token })).body.data.previous_sign_in as object | undefined
  const step = await stepOf(ann())
  const second = { ...step, response: assertionOf(annKey, await optionsOf(step), ORIGIN) }
  await signIn('/api/auth/verify-passkey', second, '10.0.0.21')
  const first = { response: assertionOf(annKey, await aloneOptions(), ORIGIN) }
  const byPasskey = await signIn('/api/auth/passkey-login', first, '10.0.0.22')
  expect(await previous(byPasskey)).toEqual({ at: expect.any(String), address: '10.0.0.21' })
  expect(await previous(await platform().signIn(ann()))).toEqual({ at: expect.any(String), address: '10.0.0.22' })
})

test.each([
  ['transports', ['usb\0']],
  ['transports', ['x'.repeat(100_000)]],
  ['transports', Array.from({ length: 1000 }, () => 'usb')],
  ['transports', { length: 3 }],
  ['id', 'A'.repeat(1365)],
])('security 84: a new passkey with the %s of case %# gets 400', async (field, value) => {
  const carl = await platform().register(`carl-${randomUUID().slice(0, 8)}`)
  const proof = await proofOf(carl)
  const { body } = await post('/api/account/passkeys/options', { proof }, carl.token)
  const { response } = makePasskey(body.data.options as Options, ORIGIN)
  const changed =
    field === 'id'
      ? { ...response, id: value, rawId: value }
      : { ...response, response: { ...response.response, [field]: value } }
  const answer = await post('/api/account/passkeys', { name: 'Odd', response: changed }, carl.token)
  expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
  expect(answer.body.field).toContain(field)
  expect((await methodsOf(carl)).passkeys).toEqual([])
})

/** A longer output than an authenticator has: its parsers would need seconds for a megabyte. */
const tooLong = 'A'.repeat(16_385)

test('security 248: a new passkey with a long output of its authenticator is refused before that is parsed', async () => {
  const { body } = await post('/api/account/passkeys/options', { proof: await proofOf(ann()) }, ann().token)
  const { response } = makePasskey(body.data.options as Options, ORIGIN)
  const changed = { ...response, response: { ...response.response, attestationObject: tooLong } }
  expect(await post('/api/account/passkeys', { name: 'Long', response: changed }, ann().token)).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INPUT', field: 'response.response.attestationObject' },
  })
})

test.each(['authenticatorData', 'signature'])(
  'security 248: the response of a passkey with a long %s is refused before that is parsed',
  async (field) => {
    const response = assertionOf(annKey, await aloneOptions(), ORIGIN)
    expect(await alone({ ...response, response: { ...response.response, [field]: tooLong } })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', field: `response.response.${field}` },
    })
  },
)

test('security 121: a passkey signs in with any counter, up to the highest of 32 bits', async () => {
  const counted = await addPasskey(ann(), 'Counts seconds')
  for (const counter of [2 ** 31, 2 ** 32 - 1]) {
    counted.counter = counter
    expect(await alone(assertionOf(counted, await aloneOptions(), ORIGIN))).toMatchObject({ status: 200 })
  }
})

/** Makes a call while a user is being deleted: the call reads the user, then waits for the end of the deletion. */
async function whileDeleted({ username }: Account, call: () => Promise<Answer>): Promise<Answer> {
  let answer: Promise<Answer> | undefined
  await platform()
    .db.transaction()
    .execute(async (transaction) => {
      await transaction.deleteFrom('users').where('username', '=', username).execute()
      answer = call()
      await until(() => isQueryWaiting(platform().db))
    })
  return answer!
}

test('security 198: the passkey of a user who is deleted at the same moment is refused, and does not count as a copy', async () => {
  const dora = await platform().register('dora')
  const response = assertionOf(await addPasskey(dora), await aloneOptions(), ORIGIN)
  expect(await whileDeleted(dora, () => alone(response))).toMatchObject({ body: { code: 'BAD_CREDENTIALS' } })
  const { entries } = (await platform().call('GET', '/api/activity', { token: ann().token })).body.data
  expect(JSON.stringify(entries)).not.toContain('whose counter went back')
})

test('security 198: the password of a user who is deleted at the same moment is refused like a wrong one', async () => {
  const { username, password } = await platform().register('eve')
  const answer = await whileDeleted({ username } as Account, () => post('/api/auth/login', { username, password }))
  expect(answer).toMatchObject({ status: 400, body: { code: 'BAD_CREDENTIALS' } })
})

test('security 83: challenges that another site makes a browser request do not use up the attempts of its network', async () => {
  await platform().db.deleteFrom('tries').execute()
  for (let count = 0; count < 201; count += 1) {
    // A POST without a body, which pages may send to any site.
    const answer = await platform().app.inject({
      method: 'POST',
      url: '/api/auth/passkey-login-options',
      headers: { host: 'panel.example', origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    })
    expect(answer.statusCode).toBe(409)
  }
  expect(await platform().signIn(ann())).toMatch(/^ey/)
})
