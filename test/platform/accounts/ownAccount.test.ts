import type { AddressInfo } from 'node:net'
import { io } from 'socket.io-client'
import type { OwnSession } from '../../../src/contract/signIn/auth'
import { awakeMs } from '../../support/time/awakeMs'
import { useAccount, usePlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann')
const bob = useAccount(platform, 'bob')

const sessions = async (token: string) =>
  (await platform().call('GET', '/api/sessions', { token })).body.data.sessions as OwnSession[]
const statusOf = async (token: string) => (await platform().call('GET', '/api/deployments', { token })).status
const change = (token: string, body: unknown, address?: string) =>
  platform().call('POST', '/api/auth/change-password', { token, body, address })

describe('own sessions', () => {
  test('are listed with device, address and times for their owner only, and the current session is marked', async () => {
    const headers = { 'user-agent': 'Firefox on a phone' }
    const phone = await platform().signIn(ann(), { address: '10.0.0.7', headers })
    const listed = await sessions(ann().token)
    expect(listed).toHaveLength(2)
    expect(listed.find(({ current }) => !current)).toEqual({
      id: expect.any(String),
      device: 'Firefox on a phone',
      address: '10.0.0.7',
      created_at: expect.any(String),
      last_used_at: expect.any(String),
      current: false,
    })
    expect((await sessions(phone)).find(({ current }) => current)).toMatchObject({ device: 'Firefox on a phone' })
    expect(JSON.stringify(listed)).not.toContain(ann().token)
  })

  test('can be ended by their owner only', async () => {
    const other = await platform().signIn(ann())
    const { id } = (await sessions(other)).find(({ current }) => current)!
    expect(await platform().call('DELETE', `/api/sessions/${id}`, { token: bob().token })).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    })
    expect(await statusOf(other)).toBe(200)
    expect(await platform().call('DELETE', `/api/sessions/${id}`, { token: ann().token })).toMatchObject({
      status: 200,
    })
    expect(await statusOf(other)).toBe(401)
    expect(await platform().call('DELETE', `/api/sessions/${id}`, { token: ann().token })).toMatchObject({
      status: 404,
    })
    expect(await platform().call('DELETE', '/api/sessions/nothing', { token: ann().token })).toMatchObject({
      status: 400,
      body: { field: 'id' },
    })
  })

  test('can be ended all at once, except the current session', async () => {
    const others = [await platform().signIn(ann()), await platform().signIn(ann())]
    expect(await platform().call('DELETE', '/api/sessions', { token: ann().token })).toMatchObject({ status: 200 })
    expect(await Promise.all([ann().token, ...others, bob().token].map(statusOf))).toEqual([200, 401, 401, 200])
    expect(await sessions(ann().token)).toHaveLength(1)
  })

  test('have their sockets closed within 5 seconds when one or all other sessions are ended', async () => {
    await platform().app.listen({ host: '127.0.0.1', port: 0 })
    const url = `http://127.0.0.1:${(platform().app.server.address() as AddressInfo).port}`
    for (const end of ['one', 'others']) {
      const other = await platform().signIn(ann())
      const { id } = (await sessions(other)).find(({ current }) => current)!
      const [theirs, mine] = [other, ann().token].map((token) =>
        io(url, { extraHeaders: { cookie: `token=${token}`, origin: url }, reconnection: false, forceNew: true }),
      )
      await until(() => theirs!.connected && mine!.connected)
      await platform().call('DELETE', end === 'one' ? `/api/sessions/${id}` : '/api/sessions', { token: ann().token })
      expect(await awakeMs(() => until(() => !theirs!.connected))).toBeLessThan(5000)
      expect(mine!.connected).toBe(true)
      mine!.disconnect()
    }
  })

  test('are not listed after they expire', async () => {
    const other = await platform().signIn(bob())
    const { id } = (await sessions(other)).find(({ current }) => current)!
    await platform()
      .db.updateTable('sessions')
      .set({ expires_at: new Date(0) })
      .where('id', '=', id)
      .execute()
    expect(await sessions(bob().token)).toHaveLength(1)
  })
})

describe('change password', () => {
  test('with the old password and a code sets the new password and ends all sessions except the current one', async () => {
    const cleo = await platform().register('cleo')
    const other = await platform().signIn(cleo)
    const step = await platform().call('POST', '/api/auth/login', {
      body: { username: 'cleo', password: cleo.password },
    })
    expect(
      await change(cleo.token, {
        password: cleo.password,
        newPassword: 'another horse',
        token: await platform().nextCode(cleo.secret),
      }),
    ).toMatchObject({ status: 200, body: { success: true } })
    expect([await statusOf(cleo.token), await statusOf(other)]).toEqual([200, 401])
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

  test('changes nothing when the old password, the code, the new password or the form of the call is wrong', async () => {
    const dora = await platform().register('dora')
    const good = { password: dora.password, newPassword: 'another horse' }
    expect(
      await change(dora.token, { ...good, password: 'wrong', token: await platform().nextCode(dora.secret) }),
    ).toMatchObject({ status: 400, body: { code: 'BAD_CREDENTIALS', message: 'The old password is incorrect.' } })
    expect(await change(dora.token, { ...good, token: '000000' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_CODE' },
    })
    const first = await platform().call('POST', '/api/auth/login', {
      body: { username: 'dora', password: dora.password },
    })
    const code = await platform().nextCode(dora.secret)
    await platform().call('POST', '/api/auth/verify-login', {
      body: { username: 'dora', token: code, sessionToken: first.body.data.sessionToken },
    })
    expect(await change(dora.token, { ...good, token: code })).toMatchObject({
      status: 400,
      body: {
        code: 'INVALID_CODE',
        message: 'This verification code has already been used. Please wait for the next one.',
      },
    })
    expect(await change(dora.token, { ...good, newPassword: 'short', token: '123456' })).toMatchObject({
      status: 400,
      body: { field: 'newPassword' },
    })
    expect(await change(dora.token, { ...good, token: '123456', is_admin: true })).toMatchObject({
      status: 400,
      body: { field: 'is_admin' },
    })
    expect(await statusOf(await platform().signIn(dora))).toBe(200)
  })

  test('uses up its code, which then cannot open a session', async () => {
    const eve = await platform().register('eve')
    const code = await platform().nextCode(eve.secret)
    expect(
      await change(eve.token, { password: eve.password, newPassword: 'another horse', token: code }),
    ).toMatchObject({ status: 200 })
    const first = await platform().call('POST', '/api/auth/login', {
      body: { username: 'eve', password: 'another horse' },
    })
    expect(
      await platform().call('POST', '/api/auth/verify-login', {
        body: { username: 'eve', token: code, sessionToken: first.body.data.sessionToken },
      }),
    ).toMatchObject({ status: 400, body: { code: 'INVALID_CODE' } })
  })

  test('security 2 and 3: wrong passwords and codes are counted per account, whatever the address', async () => {
    const finn = await platform().register('finn')
    const good = { newPassword: 'another horse', token: '000000' }
    const statuses = async (password: string) => {
      const answers: number[] = []
      for (let tries = 0; tries < 12; tries++)
        answers.push((await change(finn.token, { ...good, password }, `10.4.0.${tries}`)).status)
      return answers
    }
    const expected = [...Array<number>(10).fill(400), 429, 429]
    expect(await statuses('wrong')).toEqual(expected)
    await platform().db.deleteFrom('tries').execute()
    expect(await statuses(finn.password)).toEqual(expected)
  })

  test('loses against a concurrent reset by an administrator', async () => {
    const gus = await platform().register('gus')
    const row = await platform()
      .db.selectFrom('users')
      .select('id')
      .where('username', '=', 'gus')
      .executeTakeFirstOrThrow()
    const code = await platform().nextCode(gus.secret)
    const [, reset] = await Promise.all([
      change(gus.token, { password: gus.password, newPassword: 'of the thief', token: code }),
      platform().call('PATCH', `/api/users/${row.id}/password`, {
        token: ann().token,
        body: { password: 'of the admin' },
      }),
    ])
    expect(reset).toMatchObject({ status: 200 })
    expect(
      await platform().call('POST', '/api/auth/login', { body: { username: 'gus', password: 'of the thief' } }),
    ).toMatchObject({ status: 400 })
    expect(
      await platform().call('POST', '/api/auth/login', { body: { username: 'gus', password: 'of the admin' } }),
    ).toMatchObject({ status: 200 })
  })

  test('is recorded in the activity log without passwords and codes', async () => {
    const hal = await platform().register('hal')
    await change(hal.token, { password: 'canary-old-1', newPassword: 'canary-new-1', token: '000000' })
    const [entry] = (await platform().activityLog.list({ kind: 'session' })).entries
    expect(entry).toMatchObject({ username: 'hal', action: 'changed own password', subject: null, succeeded: false })
    expect(JSON.stringify(await platform().db.selectFrom('activity').selectAll().execute())).not.toContain('canary')
  })
})

test('a session knows when and where its user signed in before; the first one does not', async () => {
  const account = async (token: string) =>
    (await platform().call('GET', '/api/account', { token })).body.data as {
      previous_sign_in?: { at: string; address: string }
    }
  const fern = await platform().register('fern')
  expect(await account(fern.token)).not.toHaveProperty('previous_sign_in')
  const office = await platform().signIn(fern, { address: '10.0.0.7' })
  const { previous_sign_in: registration } = await account(office)
  expect(registration?.address).not.toBe('10.0.0.7')
  // The end of a session does not change what the next one shows.
  await platform().call('POST', '/api/auth/logout', { token: office })
  const home = await platform().signIn(fern, { address: '10.0.0.8' })
  const { previous_sign_in: previous } = await account(home)
  expect(previous).toEqual({ at: expect.any(String), address: '10.0.0.7' })
  expect(Date.parse(previous!.at)).toBeGreaterThanOrEqual(Date.parse(registration!.at))
  const key = await platform().call('POST', '/api/keys', { token: home, body: { name: 'bot', scopes: ['read'] } })
  expect(await account(String(key.body.data.key))).not.toHaveProperty('previous_sign_in')
})
