import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { CompactEncrypt, SignJWT, UnsecuredJWT } from 'jose'
import { sql } from 'kysely'
import { io } from 'socket.io-client'
import { WebSocket } from 'ws'
import { openSecrets } from '../../../src/platform/state/secrets'
import { usePlatform } from '../../support/platform/startPlatform'

const { platform, account: ann } = usePlatform('ann')

const tryToken = async (token: string) => (await platform().call('GET', '/api/deployments', { token })).status
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as {
    sub: string
    jti: string
    exp: number
    preferred_username: string
  }

test('decisions §2: the token is a JWT (HS256) with sub, jti, a display username and an exp in 7 days', () => {
  expect(JSON.parse(Buffer.from(ann().token.split('.')[0]!, 'base64url').toString())).toEqual({ alg: 'HS256' })
  const { sub, jti, exp, preferred_username: username } = claimsOf(ann().token)
  expect(username).toBe('ann')
  expect(sub).toMatch(/^\d+$/)
  expect(jti).toMatch(/^[0-9a-f-]{36}$/)
  expect(exp - platform().clock.now / 1000).toBeCloseTo(7 * 86_400, -2)
})

test('security 5: tokens that are forged, altered, expired or of another kind get 401', async () => {
  const key = (await openSecrets(platform().dataDir, platform().db)).keyFor('session token')
  const { sub, jti, exp } = claimsOf(ann().token)
  const claims = () => new SignJWT().setSubject(sub).setJti(jti)
  const first = await platform().call('POST', '/api/auth/login', {
    body: { username: 'ann', password: ann().password },
  })
  const [header, payload] = ann().token.split('.')
  const bad = {
    unsigned: new UnsecuredJWT().setSubject(sub).setJti(jti).setExpirationTime(exp).encode(),
    otherKey: await claims().setProtectedHeader({ alg: 'HS256' }).setExpirationTime(exp).sign(Buffer.alloc(32, 7)),
    otherAlgorithm: await claims()
      .setProtectedHeader({ alg: 'HS512' })
      .setExpirationTime(exp)
      .sign(Buffer.concat([key, key])),
    expired: await claims()
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(Math.floor(platform().clock.now / 1000) - 1)
      .sign(key),
    unknownSession: await new SignJWT()
      .setSubject(sub)
      .setJti('00000000-0000-4000-8000-000000000000')
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(exp)
      .sign(key),
    anotherUser: await new SignJWT()
      .setSubject('9999')
      .setJti(jti)
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(exp)
      .sign(key),
    noExpiry: await claims().setProtectedHeader({ alg: 'HS256' }).sign(key),
    altered: `${header}.${Buffer.from(JSON.stringify({ ...claimsOf(ann().token), sub: '1', admin: true })).toString('base64url')}.${ann().token.split('.')[2]}`,
    jku: await claims()
      .setProtectedHeader({ alg: 'HS256', jku: 'http://127.0.0.1:1/keys' })
      .setExpirationTime(exp)
      .sign(Buffer.alloc(32, 7)),
    encrypted: await new CompactEncrypt(Buffer.from(payload!))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .encrypt(key),
    stepOne: String(first.body.data.sessionToken),
    signedWithNothing: `${header}.${payload}.${createHmac('sha256', '').update(`${header}.${payload}`).digest('base64url')}`,
    nonsense: 'x',
  }
  const statuses = await Promise.all(Object.entries(bad).map(async ([kind, token]) => [kind, await tryToken(token)]))
  expect(Object.fromEntries(statuses)).toEqual(Object.fromEntries(Object.keys(bad).map((kind) => [kind, 401])))
  expect(await tryToken(ann().token)).toBe(200)
})

test('security 6: after logout the token gets 401', async () => {
  const token = await platform().signIn(ann())
  expect(await platform().call('POST', '/api/auth/logout', { token })).toMatchObject({
    status: 200,
    body: { success: true },
  })
  expect(await tryToken(token)).toBe(401)
  expect(await tryToken(ann().token)).toBe(200)
})

test('security 6: after logout the token opens no download and no socket', async () => {
  const token = await platform().signIn(ann())
  await platform().app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = platform().app.server.address() as AddressInfo
  const headers = { cookie: `token=${token}` }
  const attempts = async () => {
    const refused = (url: string) =>
      new Promise<unknown>((resolve) => {
        const socket = new WebSocket(url, { headers })
        socket.on('unexpected-response', (request, response) => {
          resolve(response.statusCode)
          request.destroy()
        })
        socket.on('error', () => undefined)
      })
    const realtime = io(`http://127.0.0.1:${port}`, { extraHeaders: headers, reconnection: false, forceNew: true })
    const greeted = await Promise.race([
      once(realtime as never, 'connect').then(() => 'connected'),
      once(realtime as never, 'connect_error').then(([error]) => (error as Error).message),
    ])
    realtime.disconnect()
    return [
      greeted,
      await refused(`ws://127.0.0.1:${port}/api/logs/lobby/x`),
      (await platform().call('GET', `/api/sftp/download?path=%2Fnfsshare%2Fa&token=${token}`)).status,
    ]
  }
  // The pod does not exist, so an accepted connection gets 404.
  expect(await attempts()).toEqual(['connected', 404, 401])
  await platform().call('POST', '/api/auth/logout', { token })
  // The connection is refused during the handshake.
  expect(await attempts()).toEqual(['xhr poll error', 401, 401])
})

test('security 8: after a user is deleted, the next request gets 401', async () => {
  const bob = await platform().register('bob')
  await platform().db.deleteFrom('users').where('username', '=', 'bob').execute()
  expect(await tryToken(bob.token)).toBe(401)
})

test('a session expires after 7 days', async () => {
  const token = await platform().signIn(ann())
  await platform()
    .db.updateTable('sessions')
    .set({ expires_at: new Date(Date.now() - 1) })
    .where('id', '=', claimsOf(token).jti)
    .execute()
  expect(await tryToken(token)).toBe(401)
})

test('a user has at most 1,000 sessions: one more sign-in ends the one that was not used for the longest time', async () => {
  const cyd = await platform().register('cyd')
  const { rows } = await sql<{ id: string }>`
    insert into sessions (id, user_id, expires_at, device, address, last_used_at)
    select gen_random_uuid(), user_id, expires_at, device, address, last_used_at - n * interval '1 hour'
    from sessions, generate_series(1, 999) n where id = ${claimsOf(cyd.token).jti} returning id`.execute(platform().db)
  const idsOf = async () =>
    (await platform().sessions.list({ userId: Number(claimsOf(cyd.token).sub) })).map(({ id }) => id)
  expect(await idsOf()).toHaveLength(1000)
  const second = await platform().signIn(cyd)
  const ids = await idsOf()
  expect(ids).toHaveLength(1000)
  expect(ids).toEqual(expect.arrayContaining([claimsOf(cyd.token).jti, claimsOf(second).jti]))
  expect(ids).not.toContain(rows.at(-1)?.id)
  expect(await tryToken(cyd.token)).toBe(200)
})

test('the body of a 401 says only how to sign in again', async () => {
  const { body } = await platform().call('GET', '/api/deployments')
  expect(body).toEqual({
    success: false,
    code: 'NO_SESSION',
    message: 'Your session has ended. Please sign in again.',
    error: 'Your session has ended. Please sign in again.',
  })
})
