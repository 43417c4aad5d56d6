import { ORIGIN, passkeyCalls, type PasskeyOptions as Options } from '../../support/platform/passkeyCalls'
import { assertionOf, type SoftPasskey } from '../../support/platform/softAuthenticator'
import { useAccount, usePlatform } from '../../support/platform/startPlatform'

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

describe('security 70: an assertion is refused', () => {
  test('for a challenge that was answered before', async () => {
    const options = await aloneOptions()
    expect(await alone(assertionOf(annKey, options, ORIGIN))).toMatchObject({ status: 200 })
    expect(await alone(assertionOf(annKey, options, ORIGIN))).toMatchObject(refused)
  })

  test('for a challenge that was answered wrongly before', async () => {
    const options = await aloneOptions()
    expect(await alone(assertionOf(annKey, options, 'https://evil.example'))).toMatchObject(refused)
    expect(await alone(assertionOf(annKey, options, ORIGIN))).toMatchObject(refused)
  })

  test('for a challenge of another step, another user or another purpose', async () => {
    const [first, second, ofBob] = [await stepOf(ann()), await stepOf(ann()), await stepOf(bob())]
    const verify = async (step: object, from: Options) =>
      post('/api/auth/verify-passkey', { ...step, response: assertionOf(annKey, from, ORIGIN) })
    expect(await verify(second, await optionsOf(first))).toMatchObject(refused)
    expect(await verify(first, await optionsOf(ofBob))).toMatchObject(refused)
    expect(await verify(first, await aloneOptions())).toMatchObject(refused)
    expect(await alone(assertionOf(annKey, await optionsOf(first), ORIGIN))).toMatchObject(refused)
  })

  test('with the passkey of another user in step 2', async () => {
    const step = await stepOf(ann())
    const response = assertionOf(bobKey, await optionsOf(step), ORIGIN)
    expect(await post('/api/auth/verify-passkey', { ...step, response })).toMatchObject(refused)
  })

  test('from another origin, or for another domain', async () => {
    const evil = { rpId: 'panel.example' }
    expect(await alone(assertionOf(annKey, await aloneOptions(), 'https://evil.example', evil))).toMatchObject(refused)
    expect(await alone(assertionOf(annKey, await aloneOptions(), ORIGIN, { rpId: 'evil.example' }))).toMatchObject(
      refused,
    )
  })

  test('without a password if its user was not verified', async () => {
    expect(await alone(assertionOf(annKey, await aloneOptions(), ORIGIN, { isVerified: false }))).toMatchObject(refused)
  })

  test('with a signature of another key', async () => {
    const response = assertionOf({ ...bobKey, id: annKey.id, counter: 1000 }, await aloneOptions(), ORIGIN)
    expect(await alone(response)).toMatchObject(refused)
  })

  test('after five minutes', async () => {
    const options = await aloneOptions()
    await platform()
      .db.updateTable('challenges')
      .set({ expires_at: new Date(0) })
      .execute()
    expect(await alone(assertionOf(annKey, options, ORIGIN))).toMatchObject(refused)
  })

  test('with a counter that went back, which is logged; of concurrent ones with one counter one is accepted', async () => {
    const copy = { ...annKey, counter: 1 }
    expect(await alone(assertionOf(copy, await aloneOptions(), ORIGIN))).toMatchObject(refused)
    const { entries } = await platform().activityLog.list({})
    expect(entries).toContainEqual(
      expect.objectContaining({ action: expect.stringContaining('counter went back'), subject: 'ann: Laptop' }),
    )
    const both = [await aloneOptions(), await aloneOptions()].map((options) =>
      assertionOf({ ...annKey }, options, ORIGIN),
    )
    annKey.counter++
    expect((await Promise.all(both.map(alone))).map(({ status }) => status).sort()).toEqual([200, 400])
  })

  test('with a passkey that was removed', async () => {
    const options = await aloneOptions()
    const gone = await addPasskey(ann(), 'Old phone')
    const { id } = (await methodsOf(ann())).passkeys.find(({ name }) => name === 'Old phone')!
    const proof = await proofOf(ann())
    expect(await post(`/api/account/passkeys/${id}/remove`, { proof }, bob().token)).toMatchObject({
      body: { code: 'STEP_EXPIRED' },
    })
    expect(await post(`/api/account/passkeys/${id}/remove`, { proof }, ann().token)).toMatchObject({ status: 200 })
    expect(await alone(assertionOf(gone, options, ORIGIN))).toMatchObject(refused)
    const { entries } = await platform().activityLog.list({})
    expect(entries).toContainEqual(expect.objectContaining({ action: 'removed passkey', subject: 'Old phone' }))
  })
})
