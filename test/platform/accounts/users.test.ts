import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { io } from 'socket.io-client'
import type { User } from '../../../src/contract/admin'
import { awakeMs } from '../../support/time/awakeMs'
import { useAccount, usePlatform, type Account } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann')
const bob = useAccount(platform, 'Bob')

const users = async () => (await platform().call('GET', '/api/users', { token: ann().token })).body.data.users as User[]
const idOf = async (username: string) => (await users()).find((user) => user.username === username)!.id
const setAdmin = async (username: string, is_admin: boolean, token = ann().token) =>
  platform().call('PATCH', `/api/users/${await idOf(username)}/admin`, { token, body: { is_admin } })
const statusOf = async (token: string, url = '/api/deployments') =>
  (await platform().call('GET', url, { token })).status

test('§7 the list contains every user with id, username, administrator flag, role and last use, and nothing else', async () => {
  expect(await users()).toEqual([
    { id: expect.any(Number), username: 'ann', is_admin: true, role: 'administrator', last_seen: expect.any(String) },
    { id: expect.any(Number), username: 'Bob', is_admin: false, role: 'operator', last_seen: expect.any(String) },
  ])
})

test('security 12: a promotion and a demotion take effect at once for the same token', async () => {
  expect(await statusOf(bob().token, '/api/users')).toBe(403)
  expect(await setAdmin('Bob', true)).toMatchObject({ status: 200, body: { success: true } })
  expect(await statusOf(bob().token, '/api/users')).toBe(200)
  expect(await setAdmin('Bob', false)).toMatchObject({ status: 200 })
  expect(await platform().call('GET', '/api/users', { token: bob().token })).toMatchObject({
    status: 403,
    body: { code: 'NOT_ALLOWED' },
  })
  expect(await statusOf(bob().token)).toBe(200)
})

test('security 7: a password reset by an administrator ends all sessions and pending sign-ins of the user', async () => {
  const cleo = await platform().register('cleo')
  const other = await platform().signIn(cleo)
  const step = await platform().call('POST', '/api/auth/login', { body: { username: 'cleo', password: cleo.password } })
  expect(
    await platform().call('PATCH', `/api/users/${await idOf('cleo')}/password`, {
      token: ann().token,
      body: { password: 'another horse' },
    }),
  ).toMatchObject({ status: 200 })
  expect([await statusOf(cleo.token), await statusOf(other)]).toEqual([401, 401])
  const late = await platform().call('POST', '/api/auth/verify-login', {
    body: {
      username: 'cleo',
      token: await platform().nextCode(cleo.secret),
      sessionToken: step.body.data.sessionToken,
    },
  })
  expect(late).toMatchObject({ status: 400, body: { code: 'STEP_EXPIRED' } })
  expect(
    await platform().call('POST', '/api/auth/login', { body: { username: 'cleo', password: cleo.password } }),
  ).toMatchObject({ status: 400 })
  expect(await statusOf(await platform().signIn({ ...cleo, password: 'another horse' }))).toBe(200)
})

test('security 8: after an administrator deletes a user, the next request gets 401 and the name is free again', async () => {
  const dora = await platform().register('dora')
  const id = await idOf('dora')
  expect(await platform().call('DELETE', `/api/users/${id}`, { token: ann().token })).toMatchObject({ status: 200 })
  expect(await statusOf(dora.token)).toBe(401)
  expect((await users()).map(({ username }) => username)).not.toContain('dora')
  expect(await platform().call('DELETE', `/api/users/${id}`, { token: ann().token })).toMatchObject({ status: 404 })
  await platform().db.deleteFrom('invites').where('code', '=', 'invite-of-dora').execute()
  expect(await statusOf((await platform().register('Dora')).token)).toBe(200)
})

test('§2 administrators may reset their own password, which ends all their sessions including this one', async () => {
  await setAdmin('Bob', true)
  expect(
    await platform().call('PATCH', `/api/users/${await idOf('Bob')}/password`, {
      token: bob().token,
      body: { password: 'my own new horse' },
    }),
  ).toMatchObject({ status: 200 })
  expect(await statusOf(bob().token)).toBe(401)
  bob().password = 'my own new horse'
  bob().token = await platform().signIn(bob())
  await setAdmin('Bob', false)
})

test('every response to a signed-in user, even a refusal, carries the current role; other answers carry none', async () => {
  const roleOf = async (token: string | undefined, url: string) =>
    (await platform().call('GET', url, { token })).headers['quarterdeck-role']
  expect([
    await roleOf(bob().token, '/api/deployments'),
    await roleOf(bob().token, '/api/users'),
    await roleOf(ann().token, '/api/users'),
  ]).toEqual(['user', 'user', 'admin'])
  await setAdmin('Bob', true)
  expect(await roleOf(bob().token, '/api/deployments')).toBe('admin')
  await setAdmin('Bob', false)
  expect(await roleOf(bob().token, '/api/deployments')).toBe('user')
  expect([
    await roleOf(undefined, '/api/deployments'),
    await roleOf('a.b.c', '/api/deployments'),
    await roleOf(bob().token, '/api/health'),
  ]).toEqual([undefined, undefined, undefined])
})

test('decisions §2: administrators cannot delete or demote themselves', async () => {
  const own = `/api/users/${await idOf('ann')}`
  const attempts = [
    await platform().call('PATCH', `${own}/admin`, { token: ann().token, body: { is_admin: false } }),
    await platform().call('DELETE', own, { token: ann().token }),
  ]
  expect(attempts.map(({ status, body: { code, message } }) => [status, code, message])).toEqual([
    [409, 'CONFLICT', 'You cannot change your own administrator rights. Ask another administrator to do it.'],
    [409, 'CONFLICT', 'You cannot delete your own account. Ask another administrator to do it.'],
  ])
  expect(await statusOf(ann().token, '/api/users')).toBe(200)
})

test('security 10: wrong types, operators, extra fields and invalid ids get 400', async () => {
  const id = await idOf('Bob')
  const calls: [string, unknown][] = [
    [`${id}/admin`, { is_admin: 'yes' }],
    [`${id}/admin`, { is_admin: 1 }],
    [`${id}/admin`, { is_admin: { $ne: null } }],
    [`${id}/admin`, { is_admin: true, id: 1 }],
    [`${id}/admin`, {}],
    [`${id}/password`, { password: '1234567' }],
    [`${id}/password`, { password: 'x'.repeat(129) }],
    [`${id}/password`, { password: ['a', 'b'] }],
    [`${id}/password`, { password: 'long enough', is_admin: true }],
    ['nobody/admin', { is_admin: true }],
    ['1.5/admin', { is_admin: true }],
    ['-1/admin', { is_admin: true }],
    ['1e999/admin', { is_admin: true }],
  ]
  for (const [path, body] of calls) {
    const answer = await platform().call('PATCH', `/api/users/${path}`, { token: ann().token, body })
    expect({ path, body, status: answer.status, code: answer.body.code }).toEqual({
      path,
      body,
      status: 400,
      code: 'INVALID_INPUT',
    })
  }
  expect((await users()).find((user) => user.id === id)).toMatchObject({ is_admin: false })
})

test('security 13: of two administrators who demote or delete each other at the same time one remains, 50 times', async () => {
  await setAdmin('Bob', true)
  const [annId, bobId] = [await idOf('ann'), await idOf('Bob')]
  for (let round = 0; round < 50; round++) {
    const demote = (by: Account, id: number) =>
      platform().call('PATCH', `/api/users/${id}/admin`, { token: by.token, body: { is_admin: false } })
    const answers = await Promise.all(
      round % 2 ? [demote(ann(), bobId), demote(bob(), annId)] : [demote(bob(), annId), demote(ann(), bobId)],
    )
    // The administrator whose call came later has already been demoted.
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403])
    const admins = await platform().db.selectFrom('users').select('id').where('is_admin', '=', true).execute()
    expect(admins).toHaveLength(1)
    await platform().db.updateTable('users').set({ is_admin: true }).where('id', 'in', [annId, bobId]).execute()
    await platform().sessions.announceChange()
  }
  await setAdmin('Bob', false)
})

test('security 13: of five administrators who demote one another concurrently one remains, 10 times', async () => {
  const all = [ann()]
  for (const name of ['eva', 'finn', 'gus', 'hal']) {
    all.push(await platform().register(name))
    await setAdmin(name, true)
  }
  const ids = await Promise.all(all.map(({ username }) => idOf(username)))
  try {
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        all.flatMap((by, at) =>
          ids
            .filter((_id, other) => other !== at)
            .map((id) =>
              platform().call('PATCH', `/api/users/${id}/admin`, { token: by.token, body: { is_admin: false } }),
            ),
        ),
      )
      const others = answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 403)
      // A busy disk may make a call time out.
      expect(others.filter((status) => status !== 503)).toEqual([])
      const admins = await platform().db.selectFrom('users').select('username').where('is_admin', '=', true).execute()
      expect(admins.length).toBeGreaterThan(0)
      expect(admins.length).toBeLessThanOrEqual(1 + others.length)
      await platform().db.updateTable('users').set({ is_admin: true }).where('id', 'in', ids).execute()
      await platform().sessions.announceChange()
    }
  } finally {
    await platform()
      .db.updateTable('users')
      .set({ is_admin: sql<boolean>`username = 'ann'` })
      .where('id', 'in', ids)
      .execute()
  }
})

test('the activity log records by name what administrators do to users, without passwords', async () => {
  const secret = 'canary-4711-password'
  await platform().call('PATCH', `/api/users/${await idOf('Bob')}/password`, {
    token: ann().token,
    body: { password: secret },
  })
  bob().password = secret
  bob().token = await platform().signIn(bob())
  await setAdmin('Bob', true)
  await setAdmin('Bob', false)
  await platform()
    .call('DELETE', `/api/users/${await idOf('ann')}`, { token: bob().token })
    .catch(() => undefined)
  const { entries } = await platform().activityLog.list({ kind: 'user' })
  expect(
    entries.slice(0, 4).map(({ username, action, subject, succeeded }) => [username, action, subject, succeeded]),
  ).toEqual([
    ['Bob', 'deleted user', `#${await idOf('ann')}`, false],
    ['ann', 'took administrator rights from', 'Bob', true],
    ['ann', 'made administrator', 'Bob', true],
    ['ann', 'reset password of', 'Bob', true],
  ])
  expect(JSON.stringify(await platform().db.selectFrom('activity').selectAll().execute())).not.toContain(secret)
})

describe('security 37: open sockets', () => {
  let url: string
  beforeAll(async () => {
    await platform().app.listen({ host: '127.0.0.1', port: 0 })
    url = `http://127.0.0.1:${(platform().app.server.address() as AddressInfo).port}`
  })

  test.each([
    [
      'demoted',
      async (username: string) => {
        await platform().db.updateTable('users').set({ is_admin: true }).where('username', '=', username).execute()
        return async () => setAdmin(username, false)
      },
    ],
    ['made administrator', async (username: string) => async () => setAdmin(username, true)],
    [
      'given a new password',
      async (username: string) => async () =>
        platform().call('PATCH', `/api/users/${await idOf(username)}/password`, {
          token: ann().token,
          body: { password: 'another horse' },
        }),
    ],
    [
      'deleted',
      async (username: string) => async () =>
        platform().call('DELETE', `/api/users/${await idOf(username)}`, { token: ann().token }),
    ],
  ])('of a user who is %s are closed within 5 seconds, and those of other users stay open', async (what, prepare) => {
    const user = await platform().register(`user-${what.replaceAll(' ', '-')}`)
    const work = await prepare(user.username)
    const open = async (token: string) => {
      const socket = io(url, {
        extraHeaders: { cookie: `token=${token}`, origin: url },
        reconnection: false,
        forceNew: true,
      })
      await once(socket as never, 'connect')
      return socket
    }
    const [theirs, others] = [await open(user.token), await open(ann().token)]
    const took = await awakeMs(async () => {
      expect(await work()).toMatchObject({ status: 200 })
      await until(() => !theirs.connected)
    })
    expect(took).toBeLessThan(5000)
    expect(others.connected).toBe(true)
    others.disconnect()
  })
})
