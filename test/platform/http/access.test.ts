import { startPlatform, type TestPlatform } from '../../support/platform/startPlatform'

/** Every call with who may make it. A route that is not here fails the test below. */
const matrix: Record<string, 'public' | 'user' | 'admin'> = {
  'GET /api/health': 'public',
  'POST /api/auth/login': 'public',
  'POST /api/auth/verify-login': 'public',
  'POST /api/auth/verify-invite': 'public',
  'POST /api/auth/register': 'public',
  'POST /api/auth/verify-registration': 'public',
  'POST /api/auth/logout': 'user',
  'GET /api/network/getManagerTimestamp': 'user',
  'GET /api/network/nodes': 'user',
  'GET /api/metrics/cpu': 'user',
  'GET /api/metrics/memory': 'user',
  'GET /api/deployments': 'user',
  'POST /api/deployments': 'user',
  'GET /api/deployments/:name': 'user',
  'PATCH /api/deployments/:name': 'user',
  'DELETE /api/deployments/:name': 'user',
  'GET /api/deployments/:name/instances': 'user',
  'GET /api/deployments/:name/instances/:uid/crash': 'user',
  'POST /api/deployments/:name/toggle': 'user',
  'POST /api/deployments/:name/restart': 'user',
}

let platform: TestPlatform

beforeAll(async () => {
  platform = await startPlatform()
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
    for (const method of match[3]?.split(', ') ?? []) if (method !== 'HEAD') found.push(`${method} ${path.join('').replace('//', '/')}`)
  }
  return found
}

test('security 11: every route is in the matrix', () => {
  expect(routes().filter((route) => route.includes(' /api')).sort()).toEqual(Object.keys(matrix).sort())
})

test('security 11: every route lets in exactly who the matrix says', async () => {
  const admin = await platform.register('admin')
  const user = await platform.register('user')
  for (const [route, access] of Object.entries(matrix)) {
    const [method, url] = route.split(' ') as ['GET' | 'POST' | 'PATCH' | 'DELETE', string]
    const as = async (token?: string) => (await platform.call(method, url.replace(':name', 'nothing'), { token, body: ['GET', 'DELETE'].includes(method) ? undefined : {} })).status
    const refused = { anonymous: (await as()) === 401, user: [401, 403].includes(await as(user.token)) }
    expect({ route, ...refused }).toEqual({ route, anonymous: access !== 'public', user: access === 'admin' })
    // Logging out ends the session that asked.
    if (route.endsWith('logout')) user.token = await platform.signIn(user)
    expect({ route, admin: [401, 403].includes(await as(admin.token)) }).toEqual({ route, admin: false })
    if (route.endsWith('logout')) admin.token = await platform.signIn(admin)
  }
})

test('an unknown call is 404 in the form of every failure, and learns nothing', async () => {
  expect(await platform.call('GET', '/api/nothing')).toMatchObject({ status: 404, body: { success: false, code: 'NOT_FOUND' } })
})

test('security 15: an unknown deployment is 404', async () => {
  const { token } = await platform.register('curious')
  expect(await platform.call('GET', '/api/deployments/nothing/instances', { token })).toMatchObject({
    status: 404,
    body: { code: 'NOT_FOUND', message: 'There is no deployment named "nothing".' },
  })
})

test('security 58: answers of the API are never stored by a cache', async () => {
  const { headers } = await platform.call('GET', '/api/health')
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
})
