import { ORIGIN, passkeyCalls } from '../../support/platform/passkeyCalls'
import { assertionOf } from '../../support/platform/softAuthenticator'
import { useAccount, usePlatform } from '../../support/platform/startPlatform'

const { platform, account: ann } = usePlatform('ann')
const bob = useAccount(platform, 'bob')
const { post, proofOf, addPasskey, stepOf, aloneOptions, alone, methodsOf } = passkeyCalls(platform)

describe('security 71: recovery codes', () => {
  let codes: string[]
  const recover = async (recoveryCode: string) =>
    post('/api/auth/verify-recovery-code', { ...(await stepOf(bob())), recoveryCode })

  beforeAll(async () => {
    const { body } = await post('/api/account/recovery-codes', { proof: await proofOf(bob()) }, bob().token)
    codes = body.data.codes as string[]
  })

  test('are ten, stored hashed, and each signs in once, however it is typed', async () => {
    expect(new Set(codes).size).toBe(10)
    const stored = JSON.stringify(await platform().db.selectFrom('recovery_codes').selectAll().execute())
    for (const code of codes) expect(stored).not.toContain(code.replaceAll('-', ''))
    expect((await recover(` ${codes[0]!.toLowerCase().replaceAll('-', ' ')}`)).status).toBe(200)
    expect(await recover(codes[0]!)).toMatchObject({ status: 400, body: { code: 'INVALID_CODE' } })
    expect((await methodsOf(bob())).recoveryCodes).toBe(9)
  })

  test('sign in once when sent twice concurrently', async () => {
    const steps = [await stepOf(bob()), await stepOf(bob())]
    const answers = await Promise.all(
      steps.map((step) => post('/api/auth/verify-recovery-code', { ...step, recoveryCode: codes[1]! })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    // The refused one may be counted after the other one has signed in; then this sign-in reports it.
    expect((await recover(codes[4]!)).status).toBe(200)
  })

  test('of another user are wrong, and wrong ones are reported at the next sign-in', async () => {
    const step = await stepOf(ann())
    await post('/api/auth/verify-recovery-code', { ...step, recoveryCode: codes[2]! })
    const { body } = await post('/api/auth/verify-recovery-code', { ...(await stepOf(bob())), recoveryCode: codes[2]! })
    expect(body.data.wrongCodes).toBeUndefined()
    const annKey = await addPasskey(ann())
    expect((await alone(assertionOf(annKey, await aloneOptions(), ORIGIN))).body.data.wrongCodes).toMatchObject({
      count: expect.any(Number),
    })
  })

  test('stop working when new ones are created', async () => {
    await post('/api/account/recovery-codes', { proof: await proofOf(bob()) }, bob().token)
    expect((await recover(codes[3]!)).status).toBe(400)
  })
})
