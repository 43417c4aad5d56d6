import { newTotpSecret } from '../../../src/platform/accounts/oneTimeCodes'
import { ORIGIN, passkeyCalls, type PasskeyOptions as Options } from '../../support/platform/passkeyCalls'
import { assertionOf } from '../../support/platform/softAuthenticator'
import { startPlatform, useAccount, usePlatform } from '../../support/platform/startPlatform'

const { platform, account: ann } = usePlatform('ann')
const bob = useAccount(platform, 'bob')
const { post, proofOf, addPasskey, methodsOf } = passkeyCalls(platform)

test.each([
  ['localhost:8080', {}, true],
  ['panel.example', { origin: 'https://panel.example' }, true],
  ['panel.example', { origin: 'http://panel.example' }, false],
  ['panel.example', {}, false],
  ['panel.example', { origin: 'https://other.example' }, false],
  ['192.0.2.1', { origin: 'https://192.0.2.1' }, false],
  ['[2001:db8::1]:8080', { origin: 'https://[2001:db8::1]:8080' }, false],
])('at %s with %j passkeys are offered: %s', async (host, headers, passkeys) => {
  const { body } = await platform().call('GET', '/api/auth/methods', { headers: { host, ...headers } })
  expect(body.data).toEqual({ passkeys })
})

test('with a public address, pages of other origins are offered none', async () => {
  const published = await startPlatform({ environment: { QUARTERDECK_PUBLIC_URL: 'https://panel.example' } })
  const offered = async (headers: Record<string, string>) =>
    (await published.call('GET', '/api/auth/methods', { headers })).body.data
  expect(await offered({ origin: 'https://panel.example' })).toEqual({ passkeys: true })
  expect(await offered({})).toEqual({ passkeys: true })
  for (const origin of ['https://evil.example', 'null', 'https://panel.example:8443'])
    expect(await offered({ origin })).toEqual({ passkeys: false })
  await published.close()
})

test('a second authenticator signs in too, a proof is valid for one change, and the last sign-in method cannot be removed', async () => {
  const cleo = await platform().register('cleo')
  const proof = await proofOf(cleo)
  const begun = await post('/api/account/authenticators', { proof }, cleo.token)
  const { setup, secret } = begun.body.data as { setup: string; secret: string }
  expect(await post('/api/account/authenticators', { proof }, cleo.token)).toMatchObject({
    body: { code: 'STEP_EXPIRED' },
  })
  const confirm = async (code: string, token = cleo.token) =>
    (await post('/api/account/authenticators/confirm', { setup, name: 'Tablet', code }, token)).body.code
  const code = await platform().nextCode(secret)
  expect(await confirm(await platform().nextCode(newTotpSecret()))).toBe('INVALID_CODE')
  expect(await confirm(code, bob().token)).toBe('STEP_EXPIRED')
  expect(await confirm(await platform().nextCode(secret))).toBeUndefined()
  expect(await platform().signIn({ ...cleo, secret })).toEqual(expect.any(String))
  expect(await platform().signIn(cleo)).toEqual(expect.any(String))

  const [first, second] = (await methodsOf(cleo)).authenticators
  const path = (id: string) => `/api/account/authenticators/${id}`
  const renaming = await platform().call('PATCH', path(second!.id), {
    token: cleo.token,
    body: { name: 'My tablet' },
  })
  expect(renaming.status).toBe(200)
  const remove = async (id: string) =>
    post(`${path(id)}/remove`, { proof: await proofOf({ ...cleo, secret }) }, cleo.token)
  expect((await remove(first!.id)).status).toBe(200)
  expect(await remove(second!.id)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
  expect((await methodsOf(cleo)).authenticators).toMatchObject([{ name: 'My tablet' }])
})

test('no method changes without a proof', async () => {
  for (const path of ['authenticators', 'passkeys/options', 'recovery-codes'])
    expect(await post(`/api/account/${path}`, { proof: 'guessed' }, ann().token)).toMatchObject({
      body: { code: 'STEP_EXPIRED' },
    })
  const proofless = await post('/api/account/proof', { password: ann().password, code: '000000' }, ann().token)
  expect(proofless.body.code).toBe('INVALID_CODE')
  const annKey = await addPasskey(ann())
  const options = (await post('/api/account/proof/passkey-options', {}, ann().token)).body.data.options as Options
  const passkey = assertionOf(annKey, options, ORIGIN)
  expect(await post('/api/account/proof', { password: ann().password, passkey }, ann().token)).toMatchObject({
    status: 200,
  })
})
