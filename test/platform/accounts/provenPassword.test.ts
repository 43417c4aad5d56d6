import { isQueryWaiting } from '../../support/platform/isQueryWaiting'
import { ORIGIN, passkeyCalls, type PasskeyOptions as Options } from '../../support/platform/passkeyCalls'
import { assertionOf, type SoftPasskey } from '../../support/platform/softAuthenticator'
import { useAccount, usePlatform, type Account } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann')
const bob = useAccount(platform, 'bob')
const { post, proofOf, addPasskey, stepOf, optionsOf, methodsOf } = passkeyCalls(platform)

describe('a password change with a proof', () => {
  const change = (token: string, body: object) => post('/api/auth/change-password', body, token)
  const newPassword = 'another horse'
  const stale = { status: 400, body: { code: 'STEP_EXPIRED' } }

  async function proofByPasskey({ token, password }: Account, key: SoftPasskey): Promise<string> {
    const { options } = (await post('/api/account/proof/passkey-options', {}, token)).body.data as { options: Options }
    const passkey = assertionOf(key, options, ORIGIN)
    return String((await post('/api/account/proof', { password, passkey }, token)).body.data.proof)
  }

  test('is open to a user whose only method is a passkey, and ends the other sessions', async () => {
    const gwen = await platform().register('gwen')
    const key = await addPasskey(gwen)
    const [app] = (await methodsOf(gwen)).authenticators
    const other = await platform().signIn(gwen)
    const removal = { proof: await proofOf(gwen) }
    expect((await post(`/api/account/authenticators/${app!.id}/remove`, removal, gwen.token)).status).toBe(200)

    const proof = await proofByPasskey(gwen, key)
    expect(await change(gwen.token, { proof, newPassword })).toMatchObject({ status: 200, body: { success: true } })
    expect((await platform().call('GET', '/api/sessions', { token: other })).status).toBe(401)
    expect((await post('/api/auth/login', { username: 'gwen', password: gwen.password })).status).toBe(400)
    const step = await stepOf({ ...gwen, password: newPassword })
    const response = assertionOf(key, await optionsOf(step), ORIGIN)
    expect((await post('/api/auth/verify-passkey', { ...step, response })).status).toBe(200)
    const { entries } = await platform().activityLog.list({ search: 'changed own password' })
    expect(entries[0]).toMatchObject({ username: 'gwen', subject: null, succeeded: true })
  })

  test('of which the proof fails is recorded as what it may have been for', async () => {
    await post('/api/account/proof', { password: 'wrong', code: '123456' }, bob().token)
    const { entries } = await platform().activityLog.list({ search: 'failed to confirm' })
    expect(entries).toMatchObject([
      {
        username: 'bob',
        action: 'failed to confirm a change of own password or sign-in methods',
        failure: 'BAD_CREDENTIALS',
      },
    ])
  })

  test('takes a recovery code, and each proof once, from its own session only', async () => {
    const hugo = await platform().register('hugo')
    const other = await platform().signIn(hugo)
    const made = await post('/api/account/recovery-codes', { proof: await proofOf(hugo) }, hugo.token)
    const [code] = made.body.data.codes as string[]
    const proven = await post('/api/account/proof', { password: hugo.password, code }, hugo.token)
    const { proof } = proven.body.data as { proof: string }
    expect(await change(hugo.token, { proof: 'guessed', newPassword })).toMatchObject(stale)
    expect(await change(other, { proof, newPassword })).toMatchObject(stale)
    expect(await change(bob().token, { proof, newPassword })).toMatchObject(stale)
    expect((await change(hugo.token, { proof, newPassword })).status).toBe(200)
    expect(await change(hugo.token, { proof, newPassword: 'a third horse' })).toMatchObject(stale)
  })

  test('ends the proofs that were made with the old password', async () => {
    const iris = await platform().register('iris')
    const [first, second] = [await proofOf(iris), await proofOf(iris)]
    expect((await change(iris.token, { proof: first, newPassword })).status).toBe(200)
    expect(await change(iris.token, { proof: second, newPassword: 'of the thief' })).toMatchObject(stale)
  })

  test('ends the proof that the old password is about to make', async () => {
    const lena = await platform().register('lena')
    const code = await platform().nextCode(lena.secret)
    let isAnswered = false
    let answer: ReturnType<typeof post> | undefined
    await platform()
      .db.transaction()
      .execute(async (transaction) => {
        const user = transaction.selectFrom('users').select('id').where('username', '=', 'lena')
        const { id } = await user.executeTakeFirstOrThrow()
        await transaction.updateTable('users').set({ password_hash: 'that of another' }).where('id', '=', id).execute()
        answer = post('/api/account/proof', { password: lena.password, code }, lena.token)
        void answer.finally(() => (isAnswered = true))
        await until(async () => isAnswered || (await isQueryWaiting(platform().db)))
      })
    expect(await answer).toMatchObject({ status: 400, body: { code: 'BAD_CREDENTIALS' } })
  })

  test('is in the activity log when its proof fails, as the proof may be for the password', async () => {
    const kate = await platform().register('kate')
    const code = await platform().nextCode(kate.secret)
    expect((await post('/api/account/proof', { password: 'guessed', code }, kate.token)).status).toBe(400)
    const { entries } = await platform().activityLog.list({ search: 'own password' })
    expect(entries[0]).toMatchObject({
      username: 'kate',
      action: 'failed to confirm a change of own password or sign-in methods',
      failure: 'BAD_CREDENTIALS',
    })
  })

  test('loses against a reset by an administrator, whenever it comes', async () => {
    const jack = await platform().register('jack')
    const proof = await proofOf(jack)
    const { id } = await platform()
      .db.selectFrom('users')
      .select('id')
      .where('username', '=', 'jack')
      .executeTakeFirstOrThrow()
    const reset = platform().call('PATCH', `/api/users/${id}/password`, {
      token: ann().token,
      body: { password: 'of the admin' },
    })
    await Promise.all([change(jack.token, { proof, newPassword: 'of the thief' }), reset])
    expect((await reset).status).toBe(200)
    expect((await post('/api/auth/login', { username: 'jack', password: 'of the admin' })).status).toBe(200)
  })

  test.each([
    ['neither', {}, 'password'],
    ['no code', { password: 'old' }, 'token'],
    ['a proof and a password', { proof: 'p', password: 'old' }, 'password'],
    ['a proof and a code', { proof: 'p', token: '123456' }, 'token'],
  ])('needs either a proof, or the password and a code: %s is rejected', async (_case, body, field) => {
    expect(await change(bob().token, { ...body, newPassword })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', field, message: `${field}: is required, or a proof in its place, but not both` },
    })
  })
})
