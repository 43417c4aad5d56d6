import { sql } from 'kysely'
import { isQueryWaiting } from '../../support/platform/isQueryWaiting'
import { useGuest } from '../../support/platform/limitedUsers'
import type { Answer } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, admin, guest, rights } = useGuest(['own', 'other'])

const call = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, body?: object, token = admin().token) =>
  platform().call(method, url, { token, body })
const idOf = async (username: string) =>
  ((await call('GET', '/api/users')).body.data.users as { id: number; username: string }[]).find(
    (user) => user.username === username,
  )!.id

test('decisions §16: a new user is an operator; role and grants are returned as they were set, with the right view added', async () => {
  const url = `/api/users/${await idOf('guest')}/access`
  expect((await call('GET', url)).body.data).toEqual({ role: 'operator', grants: [] })
  const grants = [
    { deployment: 'own', rights: ['console', 'power'] },
    { deployment: 'other', rights: [] },
  ]
  expect(await call('PUT', url, { role: 'limited', grants })).toMatchObject({ status: 200 })
  const access = { role: 'limited', grants: [{ deployment: 'own', rights: ['view', 'console', 'power'] }] }
  expect((await call('GET', url)).body.data).toEqual(access)
  expect((await call('GET', '/api/account', undefined, guest().token)).body.data).toEqual({
    id: await idOf('guest'),
    username: 'guest',
    ...access,
  })
})

test.each([
  ['a deployment that does not exist', { role: 'limited', grants: [{ deployment: 'gone', rights: ['view'] }] }],
  [
    'a deployment named twice',
    {
      role: 'limited',
      grants: [
        { deployment: 'own', rights: ['view'] },
        { deployment: 'own', rights: ['power'] },
      ],
    },
  ],
  ['an unknown right', { role: 'limited', grants: [{ deployment: 'own', rights: ['all'] }] }],
  ['an unknown role', { role: 'owner', grants: [] }],
])('%s is refused, and nothing changes', async (_what, access) => {
  await rights().setAccess('guest', { role: 'limited', grants: [{ deployment: 'own', rights: ['files'] }] })
  const url = `/api/users/${await idOf('guest')}/access`
  expect(await call('PUT', url, access)).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
  expect((await call('GET', url)).body.data.grants).toEqual([{ deployment: 'own', rights: ['view', 'files'] }])
})

test('administrators do not change their own rights, and a limited user who becomes administrator has no grants left', async () => {
  expect(await call('PUT', `/api/users/${await idOf('admin')}/access`, { role: 'limited', grants: [] })).toMatchObject({
    status: 409,
  })
  const id = await idOf('guest')
  expect(await call('PATCH', `/api/users/${id}/admin`, { is_admin: true })).toMatchObject({ status: 200 })
  expect((await call('GET', `/api/users/${id}/access`)).body.data).toEqual({ role: 'administrator', grants: [] })
  expect(await call('PATCH', `/api/users/${id}/admin`, { is_admin: false })).toMatchObject({ status: 200 })
  expect((await call('GET', `/api/users/${id}/access`)).body.data).toEqual({ role: 'operator', grants: [] })
})

test('a deployment that is created with the name of a deleted one restores no rights on that one', async () => {
  await rights().deploy(['short-lived'])
  await rights().setAccess('guest', { role: 'limited', grants: [{ deployment: 'short-lived', rights: ['console'] }] })
  const key = await rights().createKey(admin(), { scopes: ['read'], deployments: ['short-lived'] })
  expect((await call('GET', '/api/deployments/short-lived/instances', undefined, key)).status).toBe(200)
  expect(await call('DELETE', '/api/deployments/short-lived')).toMatchObject({ status: 200 })
  await call('POST', '/api/deployments', { name: 'short-lived', type: 'process' })
  for (const token of [guest().token, key])
    expect((await call('GET', '/api/deployments/short-lived/instances', undefined, token)).status).toBe(404)
  expect((await call('GET', '/api/deployments', undefined, key)).body.data.deployments).toEqual([])
  expect((await call('GET', '/api/keys')).body.data.keys).toContainEqual(expect.objectContaining({ deployments: [] }))
})

test('an invite code carries role and grants for the user who registers with it', async () => {
  const created = await call('POST', '/api/invite-codes', {
    message: 'for the moderator',
    role: 'limited',
    grants: [{ deployment: 'own', rights: ['console'] }],
  })
  expect(created.body.data).toMatchObject({
    role: 'limited',
    grants: [{ deployment: 'own', rights: ['view', 'console'] }],
  })
  const inviteToken = (await call('POST', '/api/auth/verify-invite', { inviteCode: created.body.data.code })).body.data
    .token
  const account = { username: 'moderator', password: 'correct horse', inviteToken }
  const { secret } = (await call('POST', '/api/auth/register', account)).body.data
  const verified = await call('POST', '/api/auth/verify-registration', {
    username: 'moderator',
    inviteToken,
    token: await platform().nextCode(String(secret)),
  })
  const token = String(verified.body.data.loginToken)
  expect((await call('GET', '/api/account', undefined, token)).body.data).toMatchObject({
    role: 'limited',
    grants: [{ deployment: 'own', rights: ['view', 'console'] }],
  })
  expect((await call('GET', '/api/deployments/other', undefined, token)).status).toBe(404)
})

test('security 81: an unused invite gives no rights on a deployment that is created later with the name of a deleted one', async () => {
  await rights().deploy(['replaced'])
  const grants = ['own', 'replaced'].map((deployment) => ({ deployment, rights: ['view', 'files'] }))
  const invite = { message: 'for a guest', role: 'limited', grants }
  const inviteCode = String((await call('POST', '/api/invite-codes', invite)).body.data.code)
  await call('DELETE', '/api/deployments/replaced')
  await call('POST', '/api/deployments', { name: 'replaced', type: 'process' })
  expect((await call('GET', '/api/invite-codes')).body.data.codes).toContainEqual(
    expect.objectContaining({ code: inviteCode, grants: grants.slice(0, 1) }),
  )
  const inviteToken = (await call('POST', '/api/auth/verify-invite', { inviteCode })).body.data.token
  const account = { username: 'late', password: 'correct horse', inviteToken }
  const { secret } = (await call('POST', '/api/auth/register', account)).body.data
  const step = { username: 'late', inviteToken, token: await platform().nextCode(String(secret)) }
  const token = String((await call('POST', '/api/auth/verify-registration', step)).body.data.loginToken)
  expect((await call('GET', '/api/account', undefined, token)).body.data.grants).toEqual(grants.slice(0, 1))
})

test('an invite with rights on a deployment that does not exist is refused, because the deployment may be created later', async () => {
  const grants = [{ deployment: 'to-come', rights: ['files'] }]
  expect(await call('POST', '/api/invite-codes', { message: 'early', role: 'limited', grants })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INPUT', field: 'grants', message: 'grants: there is no deployment named "to-come"' },
  })
})

test('security 81: an invite that is created while its deployment is deleted keeps no rights on it, 10 times', async () => {
  for (let turn = 0; turn < 10; turn++) {
    await call('POST', '/api/deployments', { name: 'brief', type: 'process' })
    const grants = [{ deployment: 'brief', rights: ['view'] }]
    await Promise.all([
      call('DELETE', '/api/deployments/brief'),
      ...Array.from({ length: 8 }, () =>
        call('POST', '/api/invite-codes', { message: `turn ${turn}`, role: 'limited', grants }),
      ),
    ])
    const { codes } = (await call('GET', '/api/invite-codes')).body.data as { codes: { grants?: object[] }[] }
    expect(codes.filter((code) => JSON.stringify(code.grants ?? []).includes('brief'))).toEqual([])
  }
})

describe('a limited user with the right configuration', () => {
  const text = (more: string) =>
    `name: own\ntype: process\ndataDirectory: /own\nrun:\n  command: [sleep, '600']\n${more}`
  beforeAll(() =>
    rights().setAccess('guest', { role: 'limited', grants: [{ deployment: 'own', rights: ['configuration'] }] }),
  )
  const save = (content: string) => call('PATCH', '/api/deployments/own', { content }, guest().token)

  test('can change settings that affect only the deployment', async () => {
    expect(await save(text('description: mine\nstop: { command: stop }\n'))).toMatchObject({ status: 200 })
  })

  test.each([
    ['dataDirectory', text('').replace('/own', '/other')],
    ['mounts', text('mounts: [/other]\n')],
    ['discover', text('discover: [other]\n')],
    ['resources', text('resources: { memory: 64Gi }\n')],
    ['expose', text('expose: nodePort\n')],
  ])(
    'cannot change %s, which would give the deployment access to more than its own files and resources',
    async (setting, content) => {
      expect(await save(content)).toMatchObject({ status: 403, body: { code: 'NOT_ALLOWED', field: setting } })
    },
  )

  test('cannot learn which deployment has the same port', async () => {
    await call('PATCH', '/api/deployments/other', {
      content: "name: other\ntype: process\ndataDirectory: /other\nrun: { command: [sleep, '600'], port: 25999 }\n",
    })
    const { body } = await save(text('  port: 25999\n'))
    expect(body.data.warnings).toEqual([
      'run.port: port 25999 is in use. An instance whose port is taken is not started.',
    ])
  })
})

describe('an API key', () => {
  test('is shown once, has 40 characters after qd_, and is not stored', async () => {
    const { body } = await call('POST', '/api/keys', { name: 'backup script', scopes: ['read'] })
    const key = String(body.data.key)
    expect(key).toMatch(/^qd_[A-Za-z0-9]{40}$/)
    const listed = (await call('GET', '/api/keys')).body.data.keys as { name: string; prefix: string }[]
    expect(listed.find(({ name }) => name === 'backup script')).toMatchObject({ prefix: key.slice(0, 7) })
    const rows = await platform().db.selectFrom('api_keys').selectAll().execute()
    expect(JSON.stringify([listed, rows, platform().logged])).not.toContain(key.slice(8))
  })

  test('security 118: can exist 100 times per user at most, even if many are created at once', async () => {
    const { token } = await platform().register('collector')
    const create = () => call('POST', '/api/keys', { name: 'one of many', scopes: ['read'] }, token)
    for (let count = 0; count < 95; count++) expect((await create()).status).toBe(201)
    const statuses = (await Promise.all(Array.from({ length: 40 }, create))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([...Array<number>(5).fill(201), ...Array<number>(35).fill(409)])
  })

  test('is limited to 600 calls a minute, which every response states', async () => {
    const key = await rights().createKey(admin(), { scopes: ['read'] })
    const first = await call('GET', '/api/deployments', undefined, key)
    expect(first.headers).toMatchObject({
      'ratelimit-policy': '"key";q=600;w=60',
      ratelimit: expect.stringMatching(/^"key";r=599;t=\d+$/) as string,
    })
    await platform().db.updateTable('api_keys').set({ window_calls: 599 }).execute()
    expect((await call('GET', '/api/deployments', undefined, key)).status).toBe(200)
    const refused = await call('GET', '/api/deployments', undefined, key)
    expect(refused).toMatchObject({ status: 429, body: { code: 'TOO_MANY_TRIES' } })
    const retryAfter = Number(refused.headers['retry-after'])
    expect(refused.headers).toMatchObject({ ratelimit: `"key";r=0;t=${retryAfter}` })
    expect(retryAfter).toBeGreaterThan(0)
  })

  test('that exceeds its limit gets Retry-After until the minute ends, and then has 600 calls again', async () => {
    const key = await rights().createKey(admin(), { scopes: ['read'] })
    const callAfter = async (seconds: number) => {
      const begun = sql<Date>`now() - make_interval(secs => ${seconds})`
      await platform().db.updateTable('api_keys').set({ window_calls: 600, window_start: begun }).execute()
      const since = Date.now()
      const { status, headers } = await call('GET', '/api/deployments', undefined, key)
      return { status, headers, tookSeconds: Math.ceil((Date.now() - since) / 1000) }
    }
    const { status, headers, tookSeconds } = await callAfter(20)
    expect(status).toBe(429)
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(40)
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(40 - tookSeconds)
    expect(await callAfter(61)).toMatchObject({ status: 200, headers: { ratelimit: '"key";r=599;t=60' } })
  })

  test('is listed with its last use', async () => {
    const { body } = await call('POST', '/api/keys', { name: 'used once', scopes: ['read'] })
    const listed = async () =>
      ((await call('GET', '/api/keys')).body.data.keys as { name: string; last_used_at?: string }[]).find(
        ({ name }) => name === 'used once',
      )!
    expect(await listed()).not.toHaveProperty('last_used_at')
    const since = Date.now()
    await call('GET', '/api/deployments', undefined, String(body.data.key))
    const { last_used_at: usedAt = '' } = await listed()
    expect(Date.parse(usedAt)).toBeGreaterThanOrEqual(since - 1)
    expect(Date.parse(usedAt)).toBeLessThanOrEqual(Date.now())
  })

  test.each([
    ['an expiry in the past', { scopes: ['read'], expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    ['no scope', { scopes: [] }, 'scopes'],
    ['an unknown deployment', { scopes: ['read'], deployments: ['gone'] }, 'deployments'],
  ])('is not created with %s', async (_what, wanted, field) => {
    expect(await call('POST', '/api/keys', { name: 'bad', ...wanted })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', field },
    })
  })

  test('of a limited user cannot have deployments that they may not see, nor scopes that their role does not allow', async () => {
    for (const wanted of [
      { scopes: ['read'], deployments: ['other'] },
      { scopes: ['databases'] },
      { scopes: ['admin'] },
    ])
      expect(await call('POST', '/api/keys', { name: 'bad', ...wanted }, guest().token)).toMatchObject({ status: 400 })
  })

  test('security 82: for certain deployments cannot learn which other deployments its user has rights on', async () => {
    const user = await platform().register('keyholder')
    const granted = ['own', 'other'].map((deployment) => ({ deployment, rights: ['view' as const] }))
    await rights().setAccess('keyholder', { role: 'limited', grants: granted })
    const key = await rights().createKey(user, { scopes: ['console'], deployments: ['own'] })
    const { data } = (await call('GET', '/api/account', undefined, key)).body
    expect(data).toMatchObject({ grants: granted.slice(0, 1), key: { deployments: ['own'] } })
    expect((await call('GET', '/api/account', undefined, user.token)).body.data.grants).toHaveLength(2)
  })

  test('ends with its expiry, its deletion and its user', async () => {
    const key = await rights().createKey(admin(), { scopes: ['read'] })
    const works = async () => (await call('GET', '/api/deployments', undefined, key)).status
    expect(await works()).toBe(200)
    await platform()
      .db.updateTable('api_keys')
      .set({ expires_at: new Date(Date.now() - 1000) })
      .execute()
    expect(await works()).toBe(401)
    const shortLived = await platform().register('short')
    const other = await rights().createKey(shortLived, { scopes: ['read'] })
    expect(await call('DELETE', `/api/users/${await idOf('short')}`)).toMatchObject({ status: 200 })
    expect((await call('GET', '/api/deployments', undefined, other)).status).toBe(401)
  })
})

test('administrators see how others sign in, without their secrets', async () => {
  const methods = (await call('GET', `/api/users/${await idOf('guest')}/methods`)).body.data
  expect(methods).toEqual({
    authenticators: [
      {
        id: expect.any(String),
        name: expect.any(String),
        created_at: expect.any(String),
      },
    ],
    passkeys: [],
    recoveryCodes: 0,
    hasPassword: true,
    singleSignOn: false,
  })
  expect((await call('GET', '/api/users/99999/methods')).status).toBe(404)
})

test('administrators see and end the sessions and API keys of others', async () => {
  const id = await idOf('guest')
  await rights().createKey(guest(), { scopes: ['console'] })
  const listed = async () =>
    ((await call('GET', `/api/users/${id}/sessions`)).body.data.sessions as { id: string }[]).map((one) => one.id)
  const before = await listed()
  const second = await platform().signIn(guest())
  const added = (await listed()).filter((one) => !before.includes(one))
  expect(before).toHaveLength(1)
  expect(added).toHaveLength(1)
  expect(await call('DELETE', `/api/users/${id}/sessions/${added[0]}`)).toMatchObject({ status: 200 })
  expect((await call('GET', '/api/account', undefined, second)).status).toBe(401)
  expect(await call('DELETE', `/api/users/${id}/sessions`)).toMatchObject({ status: 200 })
  expect((await call('GET', '/api/account', undefined, guest().token)).status).toBe(401)
  const keys = (await call('GET', `/api/users/${id}/keys`)).body.data.keys as { id: string; name: string }[]
  expect(keys).toMatchObject([{ name: 'of a test', scopes: ['console'] }])
  expect(await call('DELETE', `/api/users/${id}/keys/${keys[0]!.id}`)).toMatchObject({ status: 200 })
  expect((await call('GET', `/api/users/${id}/keys`)).body.data.keys).toEqual([])
  expect((await call('GET', '/api/users/99999/sessions')).status).toBe(404)
})

test('security 131: a deployment is deleted while a user is given other rights on it, and neither fails', async () => {
  await rights().deploy(['short'])
  const url = `/api/users/${await idOf('guest')}/access`
  const access = { role: 'limited', grants: [{ deployment: 'short', rights: ['view'] }] }
  expect(await call('PUT', url, access)).toMatchObject({ status: 200 })
  let change: Promise<Answer> | undefined
  await platform()
    .db.transaction()
    .execute(async (transaction) => {
      // As a deletion does it: first its row, then the grants on it.
      await transaction.selectFrom('deployments').select('name').where('name', '=', 'short').forUpdate().execute()
      change = call('PUT', url, access)
      await until(() => isQueryWaiting(platform().db))
      await transaction.deleteFrom('deployments').where('name', '=', 'short').execute()
    })
  expect(await change).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', field: 'grants' } })
  expect((await call('GET', url)).body.data).toEqual({ role: 'limited', grants: [] })
})
