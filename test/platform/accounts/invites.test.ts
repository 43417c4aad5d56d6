import type { InviteCode } from '../../../src/contract/admin'
import { usePlatform, type Account } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann')

const codes = async () =>
  (await platform().call('GET', '/api/invite-codes', { token: ann().token })).body.data.codes as InviteCode[]
const create = async (message: unknown) =>
  platform().call('POST', '/api/invite-codes', { token: ann().token, body: { message } })
const remove = (code: string) =>
  platform().call('DELETE', `/api/invite-codes/${encodeURIComponent(code)}`, { token: ann().token })
const made = async (message: string) => (await create(message)).body.data as unknown as InviteCode

test('§3 a new code is returned and listed first with all its fields, and can be used to register', async () => {
  const answer = await create('  for bob ')
  expect(answer).toMatchObject({ status: 201, body: { success: true } })
  const invite = answer.body.data as unknown as InviteCode
  expect(invite).toEqual({
    code: expect.stringMatching(/^[2-9A-Z]{4}-[2-9A-Z]{4}-[2-9A-Z]{4}$/),
    message: 'for bob',
    created_at: expect.any(String),
    used_by: null,
    revoked: false,
    is_expired: false,
    expires_at: expect.any(String),
  })
  expect(Math.abs(Date.parse(invite.created_at) - Date.now())).toBeLessThan(60_000)
  expect(Date.parse(invite.expires_at ?? '') - Date.parse(invite.created_at)).toBeGreaterThan(6.9 * 86_400_000)
  expect((await codes())[0]).toEqual(invite)
  expect(await platform().call('POST', '/api/auth/verify-invite', { body: { inviteCode: invite.code } })).toMatchObject(
    {
      status: 200,
    },
  )
})

test('a code is accepted in any case, with or without dashes and spaces, under the same rate limits', async () => {
  const { code } = await made('to be typed')
  const verify = (inviteCode: string) =>
    platform().call('POST', '/api/auth/verify-invite', { body: { inviteCode }, address: '10.1.2.3' })
  const typed = [
    code.toLowerCase(),
    code.replaceAll('-', ''),
    ` ${code.toLowerCase().replaceAll('-', ' ')} `,
    `${code.slice(0, 6)} ${code.slice(6)}`,
  ]
  for (const text of typed) expect(await verify(text)).toMatchObject({ status: 200 })
  for (const text of [code.slice(1), `${code}A`, '-', ' - - '])
    expect(await verify(text)).toMatchObject({ status: 400 })
})

test('security 91: grants without a role are refused, instead of an invite for an operator with all rights', async () => {
  const before = await codes()
  const body = { message: 'for a limited user', grants: [{ deployment: 'lobby', rights: ['view'] }] }
  const answer = await platform().call('POST', '/api/invite-codes', { token: ann().token, body })
  expect(answer).toMatchObject({ status: 400, body: { field: 'role' } })
  expect(await codes()).toEqual(before)
})

test('a code with a NUL character, which the database cannot store, gets 400', async () => {
  expect(await remove('a\0b')).toMatchObject({ status: 400, body: { field: 'code' } })
})

test('§5 a blank message and a message of the wrong type are refused with the exact text', async () => {
  for (const message of ['', '   '])
    expect(await create(message)).toMatchObject({ status: 400, body: { message: 'message: Message cannot be empty' } })
  for (const message of [undefined, null, 1, { $ne: 1 }, 'x'.repeat(501), 'a\0'])
    expect(await create(message)).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', field: 'message' } })
  expect(
    await platform().call('POST', '/api/invite-codes', { token: ann().token, body: { message: 'x', is_first: true } }),
  ).toMatchObject({ status: 400, body: { field: 'is_first' } })
})

test('decisions §2: DELETE of an unused code revokes it; it stays in the list and cannot be used', async () => {
  const { code } = await made('to be revoked')
  const { body } = await platform().call('POST', '/api/auth/verify-invite', { body: { inviteCode: code } })
  expect(await remove(code)).toMatchObject({ status: 200 })
  expect((await codes()).find((invite) => invite.code === code)).toMatchObject({ revoked: true, used_by: null })
  expect(await platform().call('POST', '/api/auth/verify-invite', { body: { inviteCode: code } })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INVITE' },
  })
  // A registration that is already in progress fails too.
  const registered = await platform().call('POST', '/api/auth/register', {
    body: { username: 'late', password: 'correct horse', inviteToken: body.data.token },
  })
  const late = await platform().call('POST', '/api/auth/verify-registration', {
    body: {
      username: 'late',
      token: await platform().nextCode(String(registered.body.data.secret)),
      inviteToken: body.data.token,
    },
  })
  expect(late).toMatchObject({ status: 400, body: { code: 'INVALID_INVITE' } })
})

test.each([
  ['revoked', { revoked: true }],
  ['used', { used_by: 'somebody' }],
])('DELETE of a %s code removes it from the list', async (state, change) => {
  const { code } = await made(`is ${state}`)
  await platform().db.updateTable('invites').set(change).where('code', '=', code).execute()
  expect(await remove(code)).toMatchObject({ status: 200 })
  expect((await codes()).map((invite) => invite.code)).not.toContain(code)
  expect(await remove(code)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
})

test('security 253: a code that was used after the caller read the list is not deleted by a call that revokes', async () => {
  const { code } = await made('leaked')
  const revoke = () =>
    platform().call('DELETE', `/api/invite-codes/${encodeURIComponent(code)}?revoke=true`, { token: ann().token })
  const listed = async () => (await codes()).find((invite) => invite.code === code)
  await platform().db.updateTable('invites').set({ used_by: 'mallory' }).where('code', '=', code).execute()
  expect(await revoke()).toMatchObject({
    status: 409,
    body: { code: 'CONFLICT', message: expect.stringContaining('"mallory"') },
  })
  expect(await listed()).toMatchObject({ used_by: 'mallory', revoked: false })

  await platform().db.updateTable('invites').set({ used_by: null }).where('code', '=', code).execute()
  // The second one may be that of another administrator, or a repeated request.
  for (const _time of [1, 2]) {
    expect(await revoke()).toMatchObject({ status: 200 })
    expect(await listed()).toMatchObject({ revoked: true })
  }
  expect(await remove(code)).toMatchObject({ status: 200 })
  expect(await revoke()).toMatchObject({ status: 404 })
})

test('decisions §2: DELETE of an expired, unused code revokes it too', async () => {
  const { code } = await made('too late')
  await platform()
    .db.updateTable('invites')
    .set({ expires_at: new Date(0) })
    .where('code', '=', code)
    .execute()
  expect(await remove(code)).toMatchObject({ status: 200 })
  expect((await codes()).find((invite) => invite.code === code)).toMatchObject({ revoked: true, is_expired: true })
})

test('decisions §2: a code is valid for 7 days', async () => {
  const { code } = await made('a week')
  const { expires_at } = await platform()
    .db.selectFrom('invites')
    .select('expires_at')
    .where('code', '=', code)
    .executeTakeFirstOrThrow()
  expect(expires_at.getTime() - platform().clock.now).toBe(7 * 86_400_000)
})

test('§4 an unused code expires after 7 days', async () => {
  const [unused, used] = [await made('unused'), await made('used')]
  const past = new Date(platform().clock.now - 1)
  await platform()
    .db.updateTable('invites')
    .set({ expires_at: past })
    .where('code', 'in', [unused.code, used.code])
    .execute()
  await platform().db.updateTable('invites').set({ used_by: 'somebody' }).where('code', '=', used.code).execute()
  const listed = await codes()
  expect(listed.find(({ code }) => code === unused.code)).toMatchObject({ is_expired: true })
  expect(listed.find(({ code }) => code === used.code)).toMatchObject({ is_expired: false, used_by: 'somebody' })
})

test('the list shows which user used a code', async () => {
  await platform().register('cleo')
  expect((await codes()).find(({ code }) => code === 'invite-of-cleo')).toMatchObject({
    used_by: 'cleo',
    revoked: false,
  })
})

test('the activity log records invites by their message and never contains a code', async () => {
  const deletions = () =>
    platform().logged.filter((line) => line.includes('"DELETE"') && line.includes('/api/invite-codes/')).length
  const before = deletions()
  const { code } = await made('for the record')
  await remove(code)
  await remove('WRONG-CODE')
  const { entries } = await platform().activityLog.list({ kind: 'invite' })
  expect(entries.slice(0, 3).map(({ action, subject, succeeded }) => [action, subject, succeeded])).toEqual([
    ['deleted invite code', null, false],
    ['deleted invite code', 'for the record', true],
    ['created invite code', 'for the record', true],
  ])
  const kept = JSON.stringify(await platform().db.selectFrom('activity').selectAll().execute())
  for (const invite of await codes()) expect(kept).not.toContain(invite.code)
  // Nor does the platform's own log contain it, at any level: if the call failed, the code would still be valid.
  await until(() => deletions() >= before + 2)
  for (const said of [code, 'WRONG-CODE']) expect(platform().logged.filter((line) => line.includes(said))).toEqual([])
})

describe('the unused invites of an administrator', () => {
  beforeEach(() => platform().db.deleteFrom('tries').execute())
  const verify = (inviteCode: string) => platform().call('POST', '/api/auth/verify-invite', { body: { inviteCode } })
  const inviteBy = async (maker: Account, body: object) => {
    const { status, body: answer } = await platform().call('POST', '/api/invite-codes', { token: maker.token, body })
    expect(status).toBe(201)
    return String(answer.data.code)
  }
  const idOf = async (username: string) =>
    (
      (await platform().call('GET', '/api/users', { token: ann().token })).body.data.users as {
        id: number
        username: string
      }[]
    ).find((user) => user.username === username)!.id

  test.each([
    ['demoted', (id: number) => ['PATCH', `/api/users/${id}/admin`, { is_admin: false }] as const],
    ['limited', (id: number) => ['PUT', `/api/users/${id}/access`, { role: 'limited', grants: [] }] as const],
    ['deleted', (id: number) => ['DELETE', `/api/users/${id}`, undefined] as const],
  ])('security 87: are revoked when the administrator is %s, and those of others stay', async (what, change) => {
    const maker = await platform().register(`maker-${what}`)
    const id = await idOf(maker.username)
    await platform().call('PATCH', `/api/users/${id}/admin`, { token: ann().token, body: { is_admin: true } })
    const message = `of the ${what} one`
    const ofMaker = [
      await inviteBy(maker, { message, role: 'administrator', grants: [] }),
      await inviteBy(maker, { message }),
    ]
    const used = await inviteBy(maker, { message: 'used' })
    await platform().db.updateTable('invites').set({ used_by: 'somebody' }).where('code', '=', used).execute()
    const ofAnn = (await made('of ann')).code
    // A registration that has begun does not end with an account either.
    const { token: inviteToken } = (await verify(ofMaker[0]!)).body.data
    const account = { username: `late-${what}`, password: 'correct horse', inviteToken }
    const { secret } = (await platform().call('POST', '/api/auth/register', { body: account })).body.data

    const [method, url, body] = change(id)
    expect(await platform().call(method, url, { token: ann().token, body })).toMatchObject({ status: 200 })

    for (const code of ofMaker)
      expect([await verify(code), (await codes()).find((invite) => invite.code === code)]).toMatchObject([
        { status: 400, body: { code: 'INVALID_INVITE' } },
        { revoked: true },
      ])
    expect((await codes()).find(({ code }) => code === used)).toMatchObject({ revoked: false })
    expect(await verify(ofAnn)).toMatchObject({ status: 200 })
    const step = { username: account.username, inviteToken, token: await platform().nextCode(String(secret)) }
    expect(await platform().call('POST', '/api/auth/verify-registration', { body: step })).toMatchObject({
      status: 400,
    })
    const { entries } = await platform().activityLog.list({ kind: 'invite', username: 'ann', search: 'revoked' })
    expect(entries.slice(0, 2)).toMatchObject(
      ofMaker.map(() => ({
        username: 'ann',
        action: `revoked invite code of ${maker.username}`,
        subject: message,
        succeeded: true,
      })),
    )
  })

  test('are not revoked by a change after which the administrator still is one', async () => {
    const maker = await platform().register('maker-stays')
    const id = await idOf(maker.username)
    for (const url of ['admin', 'access'])
      await platform().call(url === 'admin' ? 'PATCH' : 'PUT', `/api/users/${id}/${url}`, {
        token: ann().token,
        body: url === 'admin' ? { is_admin: true } : { role: 'administrator', grants: [] },
      })
    const code = await inviteBy(maker, { message: 'stays' })
    await platform().call('PUT', `/api/users/${id}/access`, {
      token: ann().token,
      body: { role: 'administrator', grants: [] },
    })
    expect(await verify(code)).toMatchObject({ status: 200 })
  })

  test('security 87: are all revoked even if a call creates them during the demotion, 20 times', async () => {
    const maker = await platform().register('maker-races')
    const id = await idOf(maker.username)
    for (let turn = 0; turn < 20; turn++) {
      await platform().call('PATCH', `/api/users/${id}/admin`, { token: ann().token, body: { is_admin: true } })
      await Promise.all([
        platform().call('POST', '/api/invite-codes', { token: maker.token, body: { message: 'race' } }),
        platform().call('PATCH', `/api/users/${id}/admin`, { token: ann().token, body: { is_admin: false } }),
      ])
      expect((await codes()).filter(({ message, revoked }) => message === 'race' && !revoked)).toEqual([])
    }
  })
})
