import { startPlatform, type Account, type TestPlatform } from '../../support/platform/startPlatform'

/** Every call with the role that may make it. The test below fails for a route that is missing here. */
const matrix: Record<string, 'public' | 'user' | 'admin'> = {
  'GET /api/health': 'public',
  'GET /api/health/live': 'public',
  'GET /api/openapi.json': 'public',
  'GET /api/docs': 'public',
  'GET /api/docs/start.js': 'public',
  'GET /api/docs/swagger-ui.css': 'public',
  'GET /api/docs/swagger-ui-bundle.js': 'public',
  'POST /api/auth/login': 'public',
  'POST /api/auth/verify-login': 'public',
  'POST /api/auth/verify-invite': 'public',
  'POST /api/auth/register': 'public',
  'POST /api/auth/verify-registration': 'public',
  'POST /api/auth/logout': 'user',
  'POST /api/auth/change-password': 'user',
  'GET /api/sessions': 'user',
  'DELETE /api/sessions': 'user',
  'DELETE /api/sessions/:id': 'user',
  'GET /api/users': 'admin',
  'PATCH /api/users/:id/admin': 'admin',
  'PATCH /api/users/:id/password': 'admin',
  'DELETE /api/users/:id': 'admin',
  'GET /api/invite-codes': 'admin',
  'POST /api/invite-codes': 'admin',
  'DELETE /api/invite-codes/:code': 'admin',
  'GET /api/activity': 'admin',
  'GET /api/admin/k8sdashboard/host': 'admin',
  'GET /api/admin/k8sdashboard/token': 'admin',
  'POST /api/admin/k8sdashboard/token': 'admin',
  'DELETE /api/admin/k8sdashboard/token': 'admin',
  'GET /api/network/getManagerTimestamp': 'user',
  'GET /api/network/nodes': 'user',
  'GET /api/metrics/cpu': 'user',
  'GET /api/metrics/memory': 'user',
  'GET /api/sftp/files': 'user',
  'POST /api/sftp/upload': 'user',
  'GET /api/sftp/file/content': 'user',
  'PATCH /api/sftp/file/content': 'user',
  'POST /api/sftp/file': 'user',
  'DELETE /api/sftp/file': 'user',
  'POST /api/sftp/directory': 'user',
  'DELETE /api/sftp/directory': 'user',
  'POST /api/sftp/move': 'user',
  'POST /api/sftp/download-ticket': 'user',
  'POST /api/sftp/download-multiple': 'user',
  'POST /api/sftp/archive': 'user',
  'POST /api/sftp/archive-multiple': 'user',
  'POST /api/sftp/unarchive': 'user',
  'GET /api/sftp/jobs': 'user',
  'DELETE /api/sftp/jobs/:id': 'user',
  // The call itself checks the ticket.
  'GET /api/sftp/download': 'public',
  'GET /api/database/:type': 'user',
  'POST /api/database/:type': 'user',
  'PATCH /api/database/:type/:name': 'user',
  'DELETE /api/database/:type/:name': 'user',
  'GET /api/deployments': 'user',
  'POST /api/deployments': 'user',
  'GET /api/deployments/:name': 'user',
  'PATCH /api/deployments/:name': 'user',
  'DELETE /api/deployments/:name': 'user',
  'GET /api/deployments/:name/instances': 'user',
  'GET /api/deployments/:name/instances/:uid/crash': 'user',
  'POST /api/deployments/:name/toggle': 'user',
  'POST /api/deployments/:name/restart': 'user',
  'GET /api/discovery': 'user',
}

let platform: TestPlatform
let first: Account

beforeAll(async () => {
  platform = await startPlatform()
  first = await platform.register('first')
})
afterAll(() => platform.close())

/** Every route of the platform, as Fastify prints its table: `GET /path`. */
function routes(): string[] {
  const found: string[] = []
  const path: string[] = []
  for (const line of platform.app.printRoutes({ commonPrefix: false }).split('\n')) {
    const match = /^([│ ]*)[├└]── (\S+)(?: \(([A-Z, ]+)\))?/.exec(line)
    if (!match) continue
    const depth = match[1]!.length / 4
    path.length = depth
    path[depth] = match[2]!
    for (const method of match[3]?.split(', ') ?? [])
      if (method !== 'HEAD') found.push(`${method} ${path.join('').replace('//', '/')}`)
  }
  return found
}

test('security 11: every route is in the matrix', () => {
  expect(
    routes()
      .filter((route) => route.includes(' /api'))
      .sort(),
  ).toEqual(Object.keys(matrix).sort())
})

/** Calls a route with placeholder parameters. */
async function attempt(route: string, token?: string): Promise<number> {
  const [method, url] = route.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE', string]
  const answer = await platform.call(method, url.replaceAll(/:\w+/g, 'nothing'), {
    token,
    body: ['GET', 'DELETE'].includes(method) ? undefined : {},
  })
  return answer.status
}
const apiRoutes = () => routes().filter((route) => route.includes(' /api'))

test('security 11: every route admits exactly the roles in the matrix', async () => {
  const admin = { ...first, token: await platform.signIn(first) }
  const user = await platform.register('user')
  const isRefused = (status: number) => (status === 401 || status === 403 ? status : false)
  for (const route of apiRoutes()) {
    const access = matrix[route]
    const refused = { anonymous: isRefused(await attempt(route)), user: isRefused(await attempt(route, user.token)) }
    // Logging out ends the session, so the user signs in again.
    if (route.endsWith('logout')) user.token = await platform.signIn(user)
    expect({ route, ...refused }).toEqual({
      route,
      anonymous: access === 'public' ? false : 401,
      user: access === 'admin' ? 403 : false,
    })
    expect({ route, admin: isRefused(await attempt(route, admin.token)) }).toEqual({ route, admin: false })
    if (route.endsWith('logout')) admin.token = await platform.signIn(admin)
  }
})

test('security 11: if the session cannot be checked, the call fails without side effects', async () => {
  const { token } = await platform.register('somebody')
  const read = jest.spyOn(platform.sessions, 'authenticate').mockRejectedValue(new Error('a bug'))
  for (const route of apiRoutes())
    if (matrix[route] !== 'public')
      expect({ route, status: await attempt(route, token) }).toEqual({ route, status: 500 })
  read.mockRestore()
  expect((await platform.call('GET', '/api/sessions', { token })).status).toBe(200)
})

test('a route that does not declare who may call it cannot be added', async () => {
  const { default: Fastify } = await import('fastify')
  const { guardRoutes } = await import('../../../src/platform/http/access')
  const app = Fastify()
  guardRoutes(app, platform.sessions)
  expect(() => app.get('/api/new', async () => ({}))).toThrow('The route /api/new has no access setting')
})

test('security 15: an unknown user, invite, database, deployment or session gets 404', async () => {
  const token = await platform.signIn(first)
  const unknown: ['DELETE' | 'PATCH', string, object?][] = [
    ['DELETE', '/api/invite-codes/nothing'],
    ['DELETE', '/api/users/99999'],
    ['DELETE', '/api/users/99999999999999'],
    ['PATCH', '/api/users/99999/admin', { is_admin: true }],
    ['PATCH', '/api/users/99999/password', { password: 'long enough' }],
    ['DELETE', '/api/database/sql/nothing'],
    ['PATCH', '/api/database/sql/nothing'],
    ['DELETE', '/api/deployments/nothing'],
    ['DELETE', '/api/sessions/00000000-0000-4000-8000-000000000000'],
  ]
  for (const [method, url, body] of unknown)
    expect({ url, ...(await platform.call(method, url, { token, body })) }).toMatchObject({
      url,
      status: 404,
      body: { code: 'NOT_FOUND' },
    })
})

test('an unknown call gets a 404 in the standard error format and reveals nothing', async () => {
  expect(await platform.call('GET', '/api/nothing')).toMatchObject({
    status: 404,
    body: { success: false, code: 'NOT_FOUND' },
  })
})

test('security 15: an unknown deployment gets 404', async () => {
  const { token } = await platform.register('curious')
  expect(await platform.call('GET', '/api/deployments/nothing/instances', { token })).toMatchObject({
    status: 404,
    body: { code: 'NOT_FOUND', message: 'There is no deployment named "nothing".' },
  })
})

test('security 58: caches never store responses of the API', async () => {
  const { headers } = await platform.call('GET', '/api/health')
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
})
