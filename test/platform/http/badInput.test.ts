import { useEmptyPlatform } from '../../support/platform/startPlatform'

const platform = useEmptyPlatform()

const register = { username: 'ann', password: 'correct horse', inviteToken: 'x' }

test.each([
  ['a missing field', 'login', { username: 'ann' }, 'password'],
  ['a wrong type', 'login', { username: 1, password: 'x' }, 'username'],
  ['security 10: an operator object', 'login', { username: { $ne: null }, password: 'x' }, 'username'],
  ['security 10: an extra field', 'login', { username: 'ann', password: 'x', role: 'admin' }, 'role'],
  ['a username that is too short', 'register', { ...register, username: 'ab' }, 'username'],
  ['a username with other characters', 'register', { ...register, username: 'a b c' }, 'username'],
  ['a password that is too short', 'register', { ...register, password: '1234567' }, 'password'],
  ['a password that is too long', 'register', { ...register, password: 'x'.repeat(129) }, 'password'],
  ['a NUL character', 'login', { username: 'a\0', password: 'x' }, 'username'],
  ['a code that is not six digits', 'verify-login', { username: 'ann', token: '12345a', sessionToken: 'x' }, 'token'],
])('§1 %s gets 400 and names the field', async (_case, path, body, field) => {
  const answer = await platform().call('POST', `/api/auth/${path}`, { body })
  expect(answer).toMatchObject({ status: 400, body: { success: false, code: 'INVALID_INPUT', field } })
  expect(answer.body.message).toMatch(new RegExp(`^${field}: `))
  expect(answer.body.error).toBe(answer.body.message)
})

test.each([
  ['is not JSON', '{"username":'],
  ['is empty', ''],
  ['is a list', '[]'],
  ['contains __proto__', '{"__proto__": {"isAdmin": 1}, "username": "ann", "password": "x"}'],
])('a body that %s gets 400', async (_case, body) => {
  expect(await platform().call('POST', '/api/auth/login', { body })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INPUT' },
  })
})

test.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'x',
])('security 10 and 59: a body of type %s is refused', async (contentType) => {
  const body = JSON.stringify({ username: 'ann', password: 'x' })
  const answer = await platform().call('POST', '/api/auth/login', { body, headers: { 'content-type': contentType } })
  expect(answer).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INPUT', message: 'The Content-Type must be application/json.' },
  })
})

test.each(['/api/%zz', `/api/deployments/${'x'.repeat(600)}`, '/api/%00', '/api//', '/api/auth/login/../../x'])(
  'the URL %s is refused in the standard error format',
  async (address) => {
    const { status, body } = await platform().call('GET', address)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    expect(body).toMatchObject({ success: false, code: expect.any(String), message: expect.any(String) })
  },
)

test('security 3: a body over 1 MiB gets 413', async () => {
  const body = JSON.stringify({ username: 'ann', password: 'x'.repeat(10 * 2 ** 20) })
  expect(await platform().call('POST', '/api/auth/login', { body })).toMatchObject({
    status: 413,
    body: { code: 'TOO_LARGE' },
  })
})

test('an unexpected error gives a bare 500, and the log has the details under its request id', async () => {
  const { token } = await platform().register('ann')
  await platform()
    .db.insertInto('deployments')
    .values({ name: 'broken', type: 'process', content: 'not: valid', enabled: false })
    .execute()
  const list = jest.spyOn(platform().runtime, 'list').mockRejectedValueOnce(new Error('secret detail at /etc/shadow'))
  await platform()
    .db.updateTable('deployments')
    .set({ content: 'name: broken\ntype: process\ndataDirectory: /b\nrun: { command: [x] }\n' })
    .execute()
  const answer = await platform().call('GET', '/api/deployments/broken/instances', { token })
  list.mockRestore()
  expect(answer).toMatchObject({ status: 500, body: { success: false, code: 'INTERNAL' } })
  expect(JSON.stringify(answer.body)).not.toContain('secret detail')
  expect(answer.body.message).toContain(String(answer.headers['x-request-id']))
  expect(platform().logged.join('')).toContain('secret detail')
})

test.each(['login', 'no-such-call'])(
  'security 130: without a session, a body over 64 KiB for %s gets 413 before it is parsed',
  async (path) => {
    const keys = Array.from({ length: 10_000 }, (_key, at) => `"k${at}":1`)
    const parse = jest.spyOn(JSON, 'parse')
    const answer = platform().app.inject({
      method: 'POST',
      url: `/api/auth/${path}`,
      headers: { 'content-type': 'application/json' },
      payload: `{${keys.join()}}`,
    })
    expect((await answer).statusCode).toBe(413)
    expect(parse).not.toHaveBeenCalled()
    jest.restoreAllMocks()
  },
)
