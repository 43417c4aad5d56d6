import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RIGHTS as rights, SCOPES as scopes } from '../../../src/contract/pageRules'
import { startPlatform, type Account, type TestPlatform } from '../../support/platform/startPlatform'

/**
 * Every call with what it requires. The test below fails for a route that is missing here.
 * - `account`: a session; `caller`: a session or any API key.
 * - `anyone with read`: a session, or a key with the scope.
 * - `operator with databases`: an operator's session or key with the scope; `on name`: also a right on the deployment.
 * - a right: a limited user with it on the deployment of the call, or a key with its scope.
 * - `files of path`: the right `files` on the deployment whose directory has the path of the call.
 * - `files by handler`: the handler looks at what the call concerns (ownFiles.test.ts, hiddenDeployments.test.ts).
 */
const matrix: Record<string, string> = {
  'GET /api/health': 'public',
  'GET /api/health/live': 'public',
  'GET /api/openapi.json': 'public',
  'GET /api/docs': 'public',
  'GET /api/docs/start.js': 'public',
  'GET /api/docs/swagger-ui.css': 'public',
  'GET /api/docs/swagger-ui-bundle.js': 'public',
  'GET /api/auth/methods': 'public',
  'GET /api/auth/oidc/start': 'public',
  'GET /api/auth/oidc/callback': 'public',
  'GET /api/account/openid': 'account',
  'POST /api/account/openid': 'account',
  'DELETE /api/account/openid': 'account',
  'POST /api/auth/login': 'public',
  'POST /api/auth/verify-recovery-code': 'public',
  'POST /api/auth/passkey-options': 'public',
  'POST /api/auth/verify-passkey': 'public',
  'POST /api/auth/passkey-login-options': 'public',
  'POST /api/auth/passkey-login': 'public',
  'GET /api/account/methods': 'account',
  'POST /api/account/proof': 'account',
  'POST /api/account/proof/passkey-options': 'account',
  'POST /api/account/authenticators': 'account',
  'POST /api/account/authenticators/confirm': 'account',
  'PATCH /api/account/authenticators/:id': 'account',
  'POST /api/account/authenticators/:id/remove': 'account',
  'POST /api/account/passkeys': 'account',
  'POST /api/account/passkeys/options': 'account',
  'PATCH /api/account/passkeys/:id': 'account',
  'POST /api/account/passkeys/:id/remove': 'account',
  'POST /api/account/recovery-codes': 'account',
  'POST /api/auth/verify-login': 'public',
  'POST /api/auth/verify-invite': 'public',
  'POST /api/auth/register': 'public',
  'POST /api/auth/verify-registration': 'public',
  'POST /api/auth/logout': 'account',
  'POST /api/auth/change-password': 'account',
  'GET /api/sessions': 'account',
  'DELETE /api/sessions': 'account',
  'DELETE /api/sessions/:id': 'account',
  'GET /api/users': 'administrator',
  'PATCH /api/users/:id/admin': 'administrator',
  'PATCH /api/users/:id/password': 'administrator',
  'DELETE /api/users/:id': 'administrator',
  'GET /api/invite-codes': 'administrator',
  'POST /api/invite-codes': 'administrator',
  'DELETE /api/invite-codes/:code': 'administrator',
  'GET /api/activity': 'administrator',
  'GET /api/admin/k8sdashboard/host': 'administrator',
  'GET /api/admin/k8sdashboard/token': 'administrator',
  'POST /api/admin/k8sdashboard/token': 'administrator',
  'DELETE /api/admin/k8sdashboard/token': 'administrator',
  'GET /api/network/getManagerTimestamp': 'anyone with read',
  'GET /api/network/nodes': 'operator with read',
  'GET /api/metrics/cpu': 'metrics by handler',
  'GET /api/metrics/memory': 'metrics by handler',
  'GET /api/sftp/files': 'files of path',
  'POST /api/sftp/upload': 'files by handler',
  'GET /api/sftp/file/content': 'files of path',
  'PATCH /api/sftp/file/content': 'files of path',
  'POST /api/sftp/file': 'files of path',
  'DELETE /api/sftp/file': 'files of path',
  'POST /api/sftp/directory': 'files of path',
  'DELETE /api/sftp/directory': 'files of path',
  'POST /api/sftp/move': 'files of path',
  'POST /api/sftp/download-ticket': 'files of path',
  'POST /api/sftp/download-multiple': 'files of path',
  'POST /api/sftp/archive': 'files of path',
  'POST /api/sftp/archive-multiple': 'files of path',
  'POST /api/sftp/unarchive': 'files of path',
  'GET /api/sftp/jobs': 'files by handler',
  'DELETE /api/sftp/jobs/:id': 'files by handler',
  'GET /api/sftp/download': 'public',
  'GET /api/database/:type': 'operator with databases',
  'POST /api/database/:type': 'operator with databases',
  'PATCH /api/database/:type/:name': 'operator with databases',
  'DELETE /api/database/:type/:name': 'operator with databases',
  'GET /api/deployments': 'read by handler',
  'POST /api/deployments': 'operator with configuration',
  'GET /api/deployments/:name': 'configuration',
  'PATCH /api/deployments/:name': 'configuration',
  'DELETE /api/deployments/:name': 'operator with configuration on name',
  'GET /api/deployments/:name/instances': 'view',
  'GET /api/deployments/:name/instances/:uid/crash': 'console',
  'POST /api/deployments/:name/toggle': 'power',
  'POST /api/deployments/:name/restart': 'power',
  'GET /api/discovery': 'read by handler',
  'GET /api/account': 'caller',
  'GET /api/keys': 'account',
  'POST /api/keys': 'account',
  'DELETE /api/keys/:id': 'account',
  'GET /api/users/:id/access': 'administrator',
  'PUT /api/users/:id/access': 'administrator',
  'GET /api/users/:id/sessions': 'administrator',
  'DELETE /api/users/:id/sessions': 'administrator',
  'DELETE /api/users/:id/sessions/:of': 'administrator',
  'GET /api/users/:id/keys': 'administrator',
  'GET /api/users/:id/methods': 'administrator',
  'DELETE /api/users/:id/keys/:of': 'administrator',
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

const DIRECTORY = '/nfsshare/mine'
const named = (name: string) => ({ path: `${DIRECTORY}/${name}`, name })
/** Bodies of the calls for a path. */
const bodies: Record<string, object> = {
  'PATCH /api/sftp/file/content': { path: named('own.txt').path, content: 'own' },
  'POST /api/sftp/file': { path: named('new.txt').path, content: '' },
  'POST /api/sftp/directory': { path: named('new').path },
  'POST /api/sftp/move': { sourcePath: named('own.txt').path, targetPath: named('moved.txt').path },
  'POST /api/sftp/download-ticket': { path: named('own.txt').path },
  'POST /api/sftp/download-multiple': { files: [named('own.txt')] },
  'POST /api/sftp/archive': { path: named('own.txt').path },
  'POST /api/sftp/archive-multiple': { files: [named('own.txt')] },
  'POST /api/sftp/unarchive': { path: named('own.zip').path },
}
const targets: Record<string, string> = {
  'GET /api/sftp/files': DIRECTORY,
  'GET /api/sftp/file/content': named('own.txt').path,
  'DELETE /api/sftp/file': named('own.txt').path,
  'DELETE /api/sftp/directory': named('own').path,
}

/** What the calls for a path expect, and take away. */
function makeFiles(): void {
  const directory = join(platform.dataDir, DIRECTORY)
  mkdirSync(join(directory, 'own'), { recursive: true })
  for (const name of ['own.txt', 'own.zip']) writeFileSync(join(directory, name), 'own')
}

/** Calls a route with placeholder parameters, or with a path of `mine`, which is a deployment. */
async function attempt(route: string, token?: string): Promise<number> {
  const [method, url] = route.split(' ') as ['GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', string]
  const path = route.includes('/api/deployments/') ? url.replace(':name', 'mine') : url
  const query = targets[route] ? `?path=${targets[route]}` : ''
  if (matrix[route] === 'files of path') makeFiles()
  // Not `platform.call`, which reads every answer as JSON: one is an archive.
  const { statusCode } = await platform.app.inject({
    method,
    url: path.replaceAll(/:\w+/g, 'nothing') + query,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    ...(!['GET', 'DELETE'].includes(method) && { payload: bodies[route] ?? {} }),
  })
  return statusCode
}
const apiRoutes = () => routes().filter((route) => route.includes(' /api'))

type Verdict = 'allowed' | 401 | 403 | 404

/** Every call's verdict for one caller. Calls that end the caller's session or delete the deployment come last. */
async function verdicts(token: string | undefined, restore: () => Promise<string | undefined>) {
  const found: Record<string, Verdict> = {}
  let present = token
  for (const route of apiRoutes()) {
    const status = await attempt(route, present)
    // Of a call that is allowed, the placeholders may be refused: as invalid, or as unknown.
    const isOfDeployment = route.includes('/api/deployments/:name') || matrix[route] === 'files of path'
    const isRefused = status === 401 || status === 403 || (status === 404 && isOfDeployment)
    found[route] = isRefused ? status : 'allowed'
    if (route.endsWith('logout') || route === 'DELETE /api/deployments/:name') present = await restore()
  }
  return found
}

/** The verdicts that the matrix says. */
function expected(verdictOf: (access: string) => Verdict): Record<string, Verdict> {
  return Object.fromEntries(Object.entries(matrix).map(([route, access]) => [route, verdictOf(access)]))
}

describe('every route admits exactly the callers that the matrix says', () => {
  const scopeOf = (access: string): string | undefined => {
    if (access === 'administrator') return 'admin'
    if (access === 'view') return 'read'
    if (access === 'files of path') return 'files'
    if (rights.some((right) => right === access)) return access
    return /(?:with )?(\w+)(?: by handler| on name)?$/.exec(access)?.[1]
  }
  const isOfMine = (access: string) =>
    ['operator with configuration on name', 'files of path'].includes(access) ||
    rights.some((right) => right === access)
  const needsNothing = (access: string) => ['public', 'caller', 'account'].includes(access)
  let admin: Account
  let operator: Account
  let limited: Account
  let limitedId: number

  async function makeDeployment(): Promise<void> {
    await platform.call('POST', '/api/deployments', { token: admin.token, body: { name: 'mine', type: 'process' } })
  }
  const restoreFor = (account: Account) => async () => {
    await makeDeployment()
    return (account.token = await platform.signIn(account))
  }
  const restoreForKey = (key: string) => async () => {
    await makeDeployment()
    return key
  }
  async function keyOf(account: Account, wanted: { scopes: readonly string[]; deployments?: string[] }) {
    const { body } = await platform.call('POST', '/api/keys', {
      token: account.token,
      body: { name: 'a key', ...wanted },
    })
    return String(body.data.key)
  }

  beforeAll(async () => {
    admin = { ...first, token: await platform.signIn(first) }
    operator = await platform.register('operator')
    limited = await platform.register('limited')
    const { body } = await platform.call('GET', '/api/users', { token: admin.token })
    limitedId = (body.data.users as { id: number; username: string }[]).find((one) => one.username === 'limited')!.id
    for (const name of ['mine', 'other'])
      await platform.call('POST', '/api/deployments', { token: admin.token, body: { name, type: 'process' } })
  })

  async function grant(deployment: string, right: string): Promise<void> {
    admin.token = await platform.signIn(admin)
    const { status } = await platform.call('PUT', `/api/users/${limitedId}/access`, {
      token: admin.token,
      body: { role: 'limited', grants: [{ deployment, rights: [right] }] },
    })
    expect(status).toBe(200)
  }

  test('security 11: without a session, only public calls are admitted', async () => {
    expect(await verdicts(undefined, async () => undefined)).toEqual(
      expected((access) => (access === 'public' ? 'allowed' : 401)),
    )
  })

  test('security 11: an administrator may make every call', async () => {
    admin.token = await platform.signIn(admin)
    expect(await verdicts(admin.token, restoreFor(admin))).toEqual(expected(() => 'allowed'))
  })

  test('security 11: an operator may make every call but those for administrators', async () => {
    expect(await verdicts(operator.token, restoreFor(operator))).toEqual(
      expected((access) => (access === 'administrator' ? 403 : 'allowed')),
    )
  })

  test('decisions §16: for a limited user with a right on another deployment, this one does not exist', async () => {
    await grant('other', 'configuration')
    limited.token = await platform.signIn(limited)
    expect(await verdicts(limited.token, restoreFor(limited))).toEqual(
      expected((access) => {
        if (isOfMine(access)) return 404
        return access === 'administrator' || access.startsWith('operator') ? 403 : 'allowed'
      }),
    )
  })

  test.each(rights)(
    'decisions §16: a limited user with the right %s on the deployment may make its calls, and see the deployment',
    async (right) => {
      await grant('mine', right)
      limited.token = await platform.signIn(limited)
      const found = await verdicts(limited.token, async () => (limited.token = await platform.signIn(limited)))
      expect(found).toEqual(
        expected((access) => {
          if (access === 'administrator' || access.startsWith('operator')) return 403
          if (access === 'files of path') return right === 'files' ? 'allowed' : 404
          return rights.some((one) => one === access) && access !== right && access !== 'view' ? 403 : 'allowed'
        }),
      )
    },
  )

  test.each(scopes)(
    'decisions §16: an API key with the scope %s may make exactly the calls of this scope',
    async (scope) => {
      admin.token = await platform.signIn(admin)
      const key = await keyOf(admin, { scopes: [scope] })
      expect(await verdicts(key, restoreForKey(key))).toEqual(
        expected((access) => {
          if (access === 'account') return 403
          return needsNothing(access) || scopeOf(access) === scope ? 'allowed' : 403
        }),
      )
    },
  )

  test('decisions §16: for an API key with another deployment, this one does not exist', async () => {
    admin.token = await platform.signIn(admin)
    const key = await keyOf(admin, { scopes, deployments: ['other'] })
    expect(await verdicts(key, restoreForKey(key))).toEqual(
      expected((access) => {
        if (isOfMine(access)) return 404
        return access === 'account' || access === 'administrator' || access.startsWith('operator') ? 403 : 'allowed'
      }),
    )
  })

  test('decisions §16: an API key can do no more than its user, whatever its scopes', async () => {
    await grant('mine', 'console')
    limited.token = await platform.signIn(limited)
    const key = await keyOf(limited, { scopes: scopes.filter((scope) => scope !== 'admin' && scope !== 'databases') })
    expect(await verdicts(key, restoreForKey(key))).toEqual(
      expected((access) => {
        if (access === 'account' || access === 'administrator' || access.startsWith('operator')) return 403
        if (access === 'files of path') return 404
        return rights.some((one) => one === access) && access !== 'console' && access !== 'view' ? 403 : 'allowed'
      }),
    )
  })
})

test('security 11: if the session cannot be checked, the call fails without side effects', async () => {
  const { token } = await platform.register('somebody')
  const read = jest.spyOn(platform.callers, 'authenticate').mockRejectedValue(new Error('a bug'))
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
  guardRoutes(app, platform.callers)
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
