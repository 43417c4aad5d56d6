import type { ActivityEntry } from '../../../src/contract/admin'
import { useRawConnections } from '../../support/platform/rawConnections'
import { startPlatform, usePlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('ann')
const connect = useRawConnections(platform)

const newest = async (): Promise<ActivityEntry[]> => (await platform().activityLog.list({})).entries

test('a route that changes something cannot be added without declaring what the activity log records', async () => {
  const { default: Fastify } = await import('fastify')
  const { recordActivity } = await import('../../../src/platform/http/activity')
  const app = Fastify()
  recordActivity(app, platform().activityLog)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    expect(() => app.route({ method, url: '/api/new', handler: async () => ({}) })).toThrow(
      `The route ${method} /api/new has no activity setting`,
    )
  }
  expect(() => app.route({ method: ['GET', 'POST'], url: '/api/new', handler: async () => ({}) })).toThrow(
    'has no activity setting',
  )
  app.get('/api/read', async () => ({}))
  app.post('/api/said', { config: { activity: false } }, async () => ({}))
})

test('registrations, sign-ins, failed sign-ins and sign-outs are recorded with user, time and address', async () => {
  const before = Date.now()
  const token = await platform().signIn(ann())
  await platform().call('POST', '/api/auth/login', {
    body: { username: 'Ann', password: 'wrong' },
    address: '10.9.8.7',
  })
  await platform().call('POST', '/api/auth/login', {
    body: { username: 'nobody', password: 'wrong' },
    address: '10.9.8.7',
  })
  await platform().call('POST', '/api/auth/logout', { token })
  const [out, unknown, wrong, signedIn, registered] = await newest()
  expect(registered).toMatchObject({
    username: 'ann',
    kind: 'user',
    action: 'registered',
    subject: null,
    succeeded: true,
  })
  expect(signedIn).toMatchObject({
    username: 'ann',
    kind: 'session',
    action: 'signed in',
    subject: null,
    address: '127.0.0.1',
    succeeded: true,
  })
  expect(wrong).toMatchObject({
    username: null,
    kind: 'session',
    action: 'failed to sign in as',
    subject: 'ann',
    address: '10.9.8.7',
    succeeded: false,
    failure: 'BAD_CREDENTIALS',
  })
  expect(unknown).toMatchObject({
    username: null,
    kind: 'session',
    action: 'failed to sign in',
    subject: null,
    address: '10.9.8.7',
    succeeded: false,
  })
  expect(out).not.toHaveProperty('failure')
  expect(out).toMatchObject({ username: 'ann', kind: 'session', action: 'signed out', succeeded: true })
  expect(out!.at).toBeGreaterThanOrEqual(before)
  expect(out!.at).toBeLessThanOrEqual(Date.now())
})

test.each(['my secret phrase!', 'hunter22'])(
  'a password typed into the username field is not recorded (%s)',
  async (username) => {
    const from = { address: '10.9.8.6' }
    await platform().call('POST', '/api/auth/login', { body: { username, password: 'x' }, ...from })
    expect((await newest())[0]).toMatchObject({ action: 'failed to sign in', subject: null })
    await platform().call('POST', '/api/auth/verify-login', {
      body: { username, token: '123456', sessionToken: 'x'.repeat(43) },
      ...from,
    })
    expect((await newest())[0]).toMatchObject({ action: 'failed to sign in', subject: null })
    expect(JSON.stringify(await newest())).not.toContain(username)
  },
)

test('outsiders cannot fill the log: correct passwords, missing sessions and rate-limited tries are not recorded', async () => {
  const count = async () => (await newest()).length
  const before = await count()
  await platform().call('POST', '/api/auth/login', { body: { username: 'ann', password: ann().password } })
  await platform().call('DELETE', '/api/deployments/lobby')
  await platform().call('POST', '/api/auth/login', { body: { username: 'ann' } })
  await platform().call('POST', '/api/auth/verify-login', {
    body: { username: 'ann', token: '123456', sessionToken: 'x' },
  })
  expect(await count()).toBe(before)
  for (let tries = 0; tries < 20; tries++)
    await platform().call('POST', '/api/auth/login', {
      body: { username: 'ann', password: 'wrong' },
      address: '10.9.0.1',
    })
  expect(await count()).toBe(before + 10)
})

test('refused and failed calls are recorded as such, with their subject', async () => {
  await platform().call('DELETE', '/api/deployments/not-there', { token: ann().token })
  expect((await newest())[0]).toMatchObject({
    username: 'ann',
    kind: 'deployment',
    action: 'deleted deployment',
    subject: 'not-there',
    succeeded: false,
    failure: 'NOT_FOUND',
  })
  await platform().call('POST', '/api/deployments', { token: ann().token, body: { name: { $ne: 1 } } })
  expect((await newest())[0]).toMatchObject({
    action: 'created deployment',
    subject: null,
    succeeded: false,
    failure: 'INVALID_INPUT',
  })
})

test('an action with an API key is recorded with the name of the key, an action of a session without one', async () => {
  const { body } = await platform().call('POST', '/api/keys', {
    token: ann().token,
    body: { name: 'nightly deploy', scopes: ['configuration'] },
  })
  const key = String(body.data.key)
  await platform().call('POST', '/api/deployments', { token: key, body: { name: 'by-key', type: 'process' } })
  await platform().call('DELETE', '/api/users/1', { token: key })
  await platform().call('DELETE', '/api/deployments/by-key', { token: ann().token })
  const [bySession, refused, made] = (await platform().call('GET', '/api/activity', { token: ann().token })).body.data
    .entries as ActivityEntry[]
  const byKey = { username: 'ann', api_key: 'nightly deploy' }
  expect(made).toMatchObject({ ...byKey, action: 'created deployment', subject: 'by-key', succeeded: true })
  expect(refused).toMatchObject({ ...byKey, action: 'deleted user', succeeded: false, failure: 'NOT_ALLOWED' })
  expect(bySession).toMatchObject({ username: 'ann', action: 'deleted deployment', succeeded: true })
  expect(bySession).not.toHaveProperty('api_key')
  expect(JSON.stringify(await platform().db.selectFrom('activity').selectAll().execute())).not.toContain(key)
})

test('deployments are recorded by name, never with their text', async () => {
  await platform().call('POST', '/api/deployments', { token: ann().token, body: { name: 'bot', type: 'process' } })
  const content =
    'name: bot\ntype: process\ndataDirectory: /bot\nrun: { command: [node], env: { TOKEN: canary-7781 } }\n'
  await platform().call('PATCH', '/api/deployments/bot', { token: ann().token, body: { content } })
  await platform().call('POST', '/api/deployments/bot/toggle', { token: ann().token, body: { enabled: false } })
  await platform().call('DELETE', '/api/deployments/bot', { token: ann().token })
  const entries = await newest()
  expect(entries.slice(0, 4).map(({ action, subject, succeeded }) => [action, subject, succeeded])).toEqual([
    ['deleted deployment', 'bot', true],
    ['disabled deployment', 'bot', true],
    ['changed configuration', 'bot', true],
    ['created deployment', 'bot', true],
  ])
  const kept = JSON.stringify(await platform().db.selectFrom('activity').selectAll().execute())
  for (const secret of ['canary-7781', ann().password, ann().secret, ann().token]) expect(kept).not.toContain(secret)
})

test('files are recorded by path, successful or not, never with their content', async () => {
  const call = (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) =>
    platform().call(method, `/api/sftp/${path}`, { token: ann().token, body })
  const path = '/nfsshare/activity'
  await call('POST', 'directory', { path })
  await call('POST', 'file', { path: `${path}/a.txt`, content: '' })
  await call('PATCH', 'file/content', { path: `${path}/a.txt`, content: 'canary-4412' })
  await call('POST', 'archive', { path: `${path}/a.txt` })
  await call('POST', 'unarchive', { path: `${path}/a.txt.tar.gz` })
  await call('POST', 'move', { sourcePath: `${path}/a.txt`, targetPath: `${path}/b.txt` })
  const { body } = await call('POST', 'download-ticket', { path: `${path}/b.txt` })
  const ticket = String(body.data.token)
  await platform().app.inject(`/api/sftp/download?path=${path}/b.txt&token=${ticket}`)
  const files = ['b.txt', 'a.txt.tar.gz'].map((name) => ({ path: `${path}/${name}`, name }))
  await platform().app.inject({
    method: 'POST',
    url: '/api/sftp/download-multiple',
    headers: { authorization: `Bearer ${ann().token}` },
    payload: { files },
  })
  await call('PATCH', 'file/content', { path: `${path}/b.txt`, content: 'canary-4412', modifyTime: 1 })
  await call('DELETE', `file?path=${path}/b.txt`)
  await call('DELETE', `file?path=${path}/b.txt`)
  await call('DELETE', `directory?path=${path}`)
  const { entries } = await platform().activityLog.list({ kind: 'file' })
  expect(
    entries.map(({ username, action, subject, succeeded }) => [username, action, subject, succeeded]).reverse(),
  ).toEqual([
    ['ann', 'created directory', path, true],
    ['ann', 'created file', `${path}/a.txt`, true],
    ['ann', 'saved file', `${path}/a.txt`, true],
    ['ann', 'archived', `${path}/a.txt`, true],
    ['ann', 'extracted', `${path}/a.txt.tar.gz`, true],
    ['ann', 'moved', `${path}/a.txt to ${path}/b.txt`, true],
    ['ann', 'downloaded', `${path}/b.txt`, true],
    ['ann', 'downloaded', `2 entries beginning with ${path}/b.txt`, true],
    ['ann', 'saved file', `${path}/b.txt`, false],
    ['ann', 'deleted file', `${path}/b.txt`, true],
    ['ann', 'deleted file', `${path}/b.txt`, false],
    ['ann', 'deleted directory', path, true],
  ])
  const kept = JSON.stringify(await platform().db.selectFrom('activity').selectAll().execute())
  for (const secret of ['canary-4412', ticket]) expect(kept).not.toContain(secret)
})

test('a call whose client disconnects before the response is recorded', async () => {
  const holder = await platform().state.pool.connect()
  await holder.query('begin; lock table deployments in access exclusive mode')
  const socket = connect()
  socket.write(`DELETE /api/deployments/hung HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ann().token}\r\n\r\n`)
  await until(
    async () =>
      (
        await platform().state.pool.query(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and query like '%where "name" = $1'`,
        )
      ).rowCount,
  )
  socket.destroy()
  await until(
    () =>
      new Promise<boolean>((resolve) => platform().app.server.getConnections((_error, count) => resolve(count === 0))),
  )
  await holder.query('commit')
  holder.release()
  expect(
    await until(
      async () => (await newest())[0],
      (entry) => entry?.subject === 'hung',
    ),
  ).toMatchObject({ username: 'ann', address: '127.0.0.1' })
})

test('a completed change is recorded although its connection was reset right after the request', async () => {
  const socket = connect()
  const { body } = await platform().call('POST', '/api/invite-codes', {
    token: ann().token,
    body: { message: 'reset' },
  })
  platform().app.server.prependOnceListener('request', () => socket.resetAndDestroy())
  socket.write(
    `DELETE /api/invite-codes/${String(body.data.code)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ann().token}\r\n\r\n`,
  )
  expect(
    await until(
      async () => (await newest())[0],
      (entry) => entry?.action === 'deleted invite code',
    ),
  ).toMatchObject({ username: 'ann', subject: 'reset', address: '127.0.0.1', succeeded: true })
})

test('control and direction characters in a subject become spaces, and a long subject is truncated', async () => {
  platform().activityLog.record({
    username: 'ann',
    kind: 'file',
    action: 'deleted file',
    subject: `a\u0000b\nc\u202ed${'x'.repeat(1000)}\ud800`,
    address: '::1',
    succeeded: true,
  })
  const { subject } = (await newest())[0]!
  expect(subject).toMatch(/^a b c dx+…$/)
  expect(subject).toHaveLength(500)
})

test('an entry that the database rejects does not block the others', async () => {
  const entry = { username: 'ann', kind: 'file' as const, action: 'deleted file', address: '::1', succeeded: true }
  platform().activityLog.record({ ...entry, subject: 'before' })
  platform().activityLog.record({ ...entry, subject: 'refused', kind: null as unknown as 'file' })
  platform().activityLog.record({ ...entry, subject: 'after' })
  expect((await newest()).slice(0, 2).map(({ subject }) => subject)).toEqual(['after', 'before'])
})

test('an administrator’s call made by a regular user is recorded as refused', async () => {
  const bob = await platform().register('bob')
  await platform().call('DELETE', '/api/users/1', { token: bob.token, address: '10.0.0.66' })
  expect((await newest())[0]).toMatchObject({
    username: 'bob',
    kind: 'user',
    action: 'deleted user',
    subject: '#1',
    address: '10.0.0.66',
    succeeded: false,
  })
})

test('security 106: of thousands of refused calls of a user, the first are recorded one by one, the others as a number', async () => {
  const other = await startPlatform()
  try {
    const { token } = await other.register('eve')
    for (let round = 0; round < 350; round += 50)
      await Promise.all(
        Array.from({ length: 50 }, () => other.call('DELETE', '/api/deployments/none', { token, address: '10.9.8.7' })),
      )
    await other.activityLog.close()
    const [last] = (await other.activityLog.list({})).entries
    const refused = other.db.selectFrom('activity').where('succeeded', '=', false)
    const { count } = await refused.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow()
    expect(Number(count)).toBe(301)
    expect(last).toMatchObject({
      username: 'eve',
      action: 'made 50 more calls within a minute that were refused',
      address: '10.9.8.7',
    })
  } finally {
    await other.close()
  }
})

test('security 109: of thousands of equal actions of a user, the first are recorded one by one, the others as a number, and a different action by itself', async () => {
  const other = await startPlatform()
  try {
    const { token } = await other.register('eve')
    const get = (url: string) => other.call('GET', url, { token })
    expect(
      (await other.call('POST', '/api/deployments', { token, body: { name: 'lobby', type: 'process' } })).status,
    ).toBe(201)
    const create = (name: string) =>
      other.call('POST', '/api/sftp/file', { token, body: { path: `/nfsshare/${name}`, content: '' } })
    for (let round = 0; round < 650; round += 50)
      await Promise.all(Array.from({ length: 50 }, (_call, at) => create(`file-${round + at}`)))
    await other.call('DELETE', '/api/deployments/lobby', { token })
    expect((await get('/api/activity')).status).toBe(200)
    await other.activityLog.close()
    const files = other.db.selectFrom('activity').where('kind', '=', 'file')
    const { count } = await files.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow()
    expect(Number(count)).toBe(601)
    const [last, before] = (await other.activityLog.list({})).entries
    expect(last).toMatchObject({
      username: 'eve',
      kind: 'file',
      action: 'created file: 50 more times within a minute',
      succeeded: true,
    })
    expect(before).toMatchObject({ action: 'deleted deployment', subject: 'lobby' })
  } finally {
    await other.close()
  }
})
