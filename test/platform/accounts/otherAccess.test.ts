import { randomUUID } from 'node:crypto'
import type { User } from '../../../src/contract/admin'
import { listApiKeys } from '../../../src/platform/state/accounts/apiKeys'
import { findIdentityOf, insertIdentity } from '../../../src/platform/state/accounts/openId'
import { insertPasskey, listPasskeys } from '../../../src/platform/state/accounts/passkeys'
import { deleteOtherAccess, lockUser, replacePassword } from '../../../src/platform/state/accounts/users'
import { isQueryWaiting } from '../../support/platform/isQueryWaiting'
import { ORIGIN, passkeyCalls } from '../../support/platform/passkeyCalls'
import { assertionOf } from '../../support/platform/softAuthenticator'
import { usePlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann')

const users = async () => (await platform().call('GET', '/api/users', { token: ann().token })).body.data.users as User[]
const idOf = async (username: string) => (await users()).find((user) => user.username === username)!.id
const statusOf = async (token: string) => (await platform().call('GET', '/api/deployments', { token })).status
const endAll = async (username: string) =>
  platform().call('PATCH', `/api/users/${await idOf(username)}/password`, {
    token: ann().token,
    body: { password: 'another horse', endOtherAccess: true },
  })
/** What signs in without the password, made by a thief. */
async function addAccess(userId: number) {
  const credential = { credential_id: `of ${userId}`, public_key: Buffer.from('x'), counter: 0, transports: [] }
  const row = { id: randomUUID(), user_id: userId, name: 'Phone', rp_id: 'x', last_used_at: null, ...credential }
  await insertPasskey(platform().db, row)
  const identity = { issuer: 'https://login.example', subject: String(userId) }
  await insertIdentity(platform().db, { ...identity, user_id: userId, made_account: false })
}
const createKey = (token: string) =>
  platform().call('POST', '/api/keys', { token, body: { name: 'of a thief', scopes: ['read'] } })
const invitesOf = (userId: number) =>
  platform().db.selectFrom('invites').select('revoked').where('made_by', '=', userId).execute()
const leftOf = async (userId: number) =>
  Promise.all([
    listApiKeys(platform().db, userId),
    listPasskeys(platform().db, userId),
    findIdentityOf(platform().db, userId),
  ])

test('security 96: a password reset that ends all other access leaves no API key, passkey, invite or connection, and is recorded', async () => {
  const eve = await platform().register('eve')
  const id = await idOf('eve')
  await addAccess(id)
  const key = String((await createKey(eve.token)).body.data.key)
  expect(await statusOf(key)).toBe(200)
  await platform().call('PATCH', `/api/users/${id}/admin`, { token: ann().token, body: { is_admin: true } })
  const invite = await platform().call('POST', '/api/invite-codes', {
    token: eve.token,
    body: { message: 'of a thief' },
  })
  expect(invite.status).toBe(201)
  expect(await endAll('eve')).toMatchObject({ status: 200 })
  const { codes } = (await platform().call('GET', '/api/invite-codes', { token: ann().token })).body.data
  expect(codes).toContainEqual(expect.objectContaining({ message: 'of a thief', revoked: true }))
  expect([await statusOf(key), await statusOf(eve.token)]).toEqual([401, 401])
  expect(await leftOf(id)).toEqual([[], [], undefined])
  expect(await statusOf(await platform().signIn({ ...eve, password: 'another horse' }))).toBe(200)
  expect((await platform().activityLog.list({})).entries).toContainEqual(
    expect.objectContaining({ action: 'reset password and ended all other access of', subject: 'eve' }),
  )
})

test('security 96: a password reset also ends access that is created at the same moment, 5 times', async () => {
  const gus = await platform().register('gus')
  const id = await idOf('gus')
  await platform().call('PATCH', `/api/users/${id}/admin`, { token: ann().token, body: { is_admin: true } })
  for (let round = 0; round < 5; round++) {
    const [ended, ...made] = await Promise.all([
      endAll('gus'),
      ...Array.from({ length: 10 }, () => createKey(gus.token)),
      ...Array.from({ length: 5 }, () =>
        platform().call('POST', '/api/invite-codes', { token: gus.token, body: { message: 'of a thief' } }),
      ),
    ])
    expect(ended.status).toBe(200)
    for (const { status } of made) expect([201, 401]).toContain(status)
    expect(await leftOf(id)).toEqual([[], [], undefined])
    expect((await invitesOf(id)).filter(({ revoked }) => !revoked)).toEqual([])
    gus.token = await platform().signIn({ ...gus, password: 'another horse' })
  }
}, 60_000)

test('security 96: a passkey that signs in while a password reset removes it opens no session', async () => {
  const { addPasskey, aloneOptions, alone } = passkeyCalls(platform)
  const hal = await platform().register('hal')
  const id = await idOf('hal')
  const key = await addPasskey(hal)
  const options = await aloneOptions()
  const { signIn } = await platform()
    .db.transaction()
    .execute(async (transaction) => {
      await lockUser(transaction, id)
      const signIn = alone(assertionOf(key, options, ORIGIN))
      // The passkey is verified.
      await until(() => isQueryWaiting(platform().db))
      await replacePassword(transaction, id, 'of another password')
      await deleteOtherAccess(transaction, id)
      return { signIn }
    })
  expect(await signIn).toMatchObject({ status: 400, body: { code: 'BAD_CREDENTIALS' } })
  expect(await platform().db.selectFrom('sessions').select('id').where('user_id', '=', id).execute()).toEqual([])
})

test('security 96: a password reset is refused for an account that could not sign in without its passkeys, and changes nothing', async () => {
  await platform().register('fay')
  const id = await idOf('fay')
  await addAccess(id)
  await platform().db.deleteFrom('authenticators').where('user_id', '=', id).execute()
  expect(await endAll('fay')).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
  expect((await leftOf(id))[1]).toHaveLength(1)
})
