import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RIGHTS as rights, SCOPES as scopes } from '../../../src/contract/pageRules'
import type { Access, Requirement } from '../../../src/platform/http/access'
import { collectRoutes } from '../../support/platform/collectRoutes'
import { startPlatform, type Account, type TestPlatform } from '../../support/platform/startPlatform'

/**
 * Every route with the access that it is meant to declare, so that a review sees every change of it. The verdicts below
 * are generated from what the routes do declare.
 */
const intended: Record<string, string> = {
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
  'GET /api/users': 'administrator with admin',
  'PATCH /api/users/:id/admin': 'administrator with admin',
  'PATCH /api/users/:id/password': 'administrator with admin',
  'DELETE /api/users/:id': 'administrator with admin',
  'GET /api/invite-codes': 'administrator with admin',
  'POST /api/invite-codes': 'administrator with admin',
  'DELETE /api/invite-codes/:code': 'administrator with admin',
  'GET /api/activity': 'administrator with admin',
  'GET /api/admin/k8sdashboard/host': 'administrator with admin',
  'GET /api/admin/k8sdashboard/token': 'administrator with admin',
  'POST /api/admin/k8sdashboard/token': 'administrator with admin',
  'DELETE /api/admin/k8sdashboard/token': 'administrator with admin',
  'GET /api/network/getManagerTimestamp': 'anyone with read',
  'GET /api/network/nodes': 'operator with read',
  'GET /api/metrics/cpu': 'view by handler with metrics',
  'GET /api/metrics/memory': 'view by handler with metrics',
  'GET /api/sftp/files': 'files by handler with files',
  'POST /api/sftp/upload': 'files by handler with files',
  'GET /api/sftp/file/content': 'files by handler with files',
  'PATCH /api/sftp/file/content': 'files by handler with files',
  'POST /api/sftp/file': 'files by handler with files',
  'DELETE /api/sftp/file': 'files by handler with files',
  'POST /api/sftp/directory': 'files by handler with files',
  'DELETE /api/sftp/directory': 'files by handler with files',
  'POST /api/sftp/move': 'files by handler with files',
  'POST /api/sftp/download-ticket': 'files by handler with files',
  'POST /api/sftp/download-multiple': 'files by handler with files',
  'POST /api/sftp/archive': 'files by handler with files',
  'POST /api/sftp/archive-multiple': 'files by handler with files',
  'POST /api/sftp/unarchive': 'files by handler with files',
  'GET /api/sftp/jobs': 'files by handler with files',
  'DELETE /api/sftp/jobs/:id': 'files by handler with files',
  'GET /api/sftp/download': 'public',
  'GET /api/database/:type': 'operator with databases',
  'POST /api/database/:type': 'operator with databases',
  'PATCH /api/database/:type/:name': 'operator with databases',
  'DELETE /api/database/:type/:name': 'operator with databases',
  'GET /api/deployments': 'view by handler with read',
  'POST /api/deployments': 'operator with configuration',
  'GET /api/deployments/:name': 'configuration on name with configuration',
  'PATCH /api/deployments/:name': 'configuration on name with configuration',
  'DELETE /api/deployments/:name': 'operator and configuration on name with configuration',
  'GET /api/deployments/:name/instances': 'view on name with read',
  'GET /api/deployments/:name/instances/:uid/crash': 'console on name with console',
  'POST /api/deployments/:name/toggle': 'power on name with power',
  'POST /api/deployments/:name/restart': 'power on name with power',
  'GET /api/discovery': 'view by handler with read',
  'GET /api/account': 'caller',
  'GET /api/keys': 'account',
  'POST /api/keys': 'account',
  'DELETE /api/keys/:id': 'account',
  'GET /api/users/:id/access': 'administrator with admin',
  'PUT /api/users/:id/access': 'administrator with admin',
  'GET /api/users/:id/sessions': 'administrator with admin',
  'DELETE /api/users/:id/sessions': 'administrator with admin',
  'DELETE /api/users/:id/sessions/:of': 'administrator with admin',
  'GET /api/users/:id/keys': 'administrator with admin',
  'GET /api/users/:id/methods': 'administrator with admin',
  'DELETE /api/users/:id/keys/:of': 'administrator with admin',
}

/** A declared access in the words of the table above. */
function textOf(access: Access): string {
  if (typeof access === 'string') return access
  const { scope, role, right, checks } = access
  const parts = [role, right && `${right} on name`, checks && `${checks} by handler`].filter(Boolean)
  return `${parts.join(' and ') || 'anyone'} with ${scope}`
}

let platform: TestPlatform
let first: Account
/** Every route (`GET /api/…`) with the access that it declares. */
let declared: Record<string, Access>

beforeAll(async () => {
  const { started, routes } = await collectRoutes(startPlatform)
  platform = started
  declared = Object.fromEntries(routes.map(({ method, url, config }) => [`${method} ${url}`, config!.access!]))
  first = await platform.register('first')
})
afterAll(() => platform.close())

test('security 11: every route declares the access that it is meant to have', () => {
  expect(Object.fromEntries(Object.entries(declared).map(([route, access]) => [route, textOf(access)]))).toEqual(
    intended,
  )
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
/** The paths of the calls that have theirs in the address. */
const targets: Record<string, string> = {
  'GET /api/sftp/files': DIRECTORY,
  'GET /api/sftp/file/content': named('own.txt').path,
  'DELETE /api/sftp/file': named('own.txt').path,
  'DELETE /api/sftp/directory': named('own').path,
}

/** Whether a call concerns the deployment `mine`: by its name or by a path in its directory. */
const concernsMine = (route: string) => route.includes('/api/deployments/:name') || route in bodies || route in targets

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
  if (route in bodies || route in targets) makeFiles()
  // Not `platform.call`, which reads every response as JSON: one is an archive.
  const { statusCode } = await platform.app.inject({
    method,
    url: path.replaceAll(/:\w+/g, 'nothing') + query,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    ...(!['GET', 'DELETE'].includes(method) && { payload: bodies[route] ?? {} }),
  })
  return statusCode
}

type Verdict = 'allowed' | 401 | 403 | 404

/** Every call's verdict for one caller. `restore` makes good what a call has ended: the session or the deployment. */
async function verdicts(token: string | undefined, restore: () => Promise<string | undefined>) {
  const found: Record<string, Verdict> = {}
  let present = token
  for (const route of Object.keys(declared)) {
    const status = await attempt(route, present)
    // Of a call that is allowed, the placeholders may be refused: as invalid, or as unknown.
    const isRefused = status === 401 || status === 403 || (status === 404 && concernsMine(route))
    found[route] = isRefused ? status : 'allowed'
    if (route.endsWith('logout') || route === 'DELETE /api/deployments/:name') present = await restore()
  }
  return found
}

/** What the verdict on a call follows from. */
interface Required {
  role?: 'operator' | 'administrator'
  /** The right on `mine` that the call requires. */
  right?: string
  scope?: string
  /** Whether the call is one of the own account, which a key cannot make. */
  isAccount: boolean
  isPublic: boolean
}

/** The verdicts that follow from the access that the routes declare. */
function expected(verdictOf: (required: Required) => Verdict): Record<string, Verdict> {
  return Object.fromEntries(
    Object.entries(declared).map(([route, access]) => {
      const { role, right, checks, scope } = typeof access === 'string' ? ({} as Partial<Requirement>) : access
      return [
        route,
        verdictOf({
          role,
          right: right ?? (concernsMine(route) ? checks : undefined),
          scope,
          isAccount: access === 'account',
          isPublic: access === 'public',
        }),
      ]
    }),
  )
}

describe('every route admits exactly the callers that its access says', () => {
  /** The verdict on a limited user who has the right `given` on `mine`, and so sees it. */
  const verdictWith = (given: string, { role, right }: Required): Verdict => {
    if (role) return 403
    if (right === undefined || right === 'view' || right === given) return 'allowed'
    // Its files are not there for a user without the right to them.
    return right === 'files' ? 404 : 403
  }
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
      expected(({ isPublic }) => (isPublic ? 'allowed' : 401)),
    )
  })

  test('security 11: an administrator may make every call', async () => {
    admin.token = await platform.signIn(admin)
    expect(await verdicts(admin.token, restoreFor(admin))).toEqual(expected(() => 'allowed'))
  })

  test('security 11: an operator may make every call but those for administrators', async () => {
    expect(await verdicts(operator.token, restoreFor(operator))).toEqual(
      expected(({ role }) => (role === 'administrator' ? 403 : 'allowed')),
    )
  })

  test('decisions §16: for a limited user with a right on another deployment, this one does not exist', async () => {
    await grant('other', 'configuration')
    limited.token = await platform.signIn(limited)
    expect(await verdicts(limited.token, restoreFor(limited))).toEqual(
      expected(({ role, right }) => {
        if (right) return 404
        return role ? 403 : 'allowed'
      }),
    )
  })

  test.each(rights)(
    'decisions §16: a limited user with the right %s on the deployment may make its calls, and see the deployment',
    async (right) => {
      await grant('mine', right)
      limited.token = await platform.signIn(limited)
      const found = await verdicts(limited.token, async () => (limited.token = await platform.signIn(limited)))
      expect(found).toEqual(expected((required) => verdictWith(right, required)))
    },
  )

  test.each(scopes)(
    'decisions §16: an API key with the scope %s may make exactly the calls of this scope',
    async (scope) => {
      admin.token = await platform.signIn(admin)
      const key = await keyOf(admin, { scopes: [scope] })
      expect(await verdicts(key, restoreForKey(key))).toEqual(
        expected(({ isAccount, scope: needed = scope }) => (isAccount || needed !== scope ? 403 : 'allowed')),
      )
    },
  )

  test('decisions §16: for an API key with another deployment, this one does not exist', async () => {
    admin.token = await platform.signIn(admin)
    const key = await keyOf(admin, { scopes, deployments: ['other'] })
    expect(await verdicts(key, restoreForKey(key))).toEqual(
      expected(({ role, right, isAccount }) => {
        if (right) return 404
        return isAccount || role ? 403 : 'allowed'
      }),
    )
  })

  test('decisions §16: an API key can do no more than its user, whatever its scopes', async () => {
    await grant('mine', 'console')
    limited.token = await platform.signIn(limited)
    const key = await keyOf(limited, { scopes: scopes.filter((scope) => scope !== 'admin' && scope !== 'databases') })
    expect(await verdicts(key, restoreForKey(key))).toEqual(
      expected((required) => (required.isAccount ? 403 : verdictWith('console', required))),
    )
  })
})

test('security 11: if the session cannot be checked, the call fails without side effects', async () => {
  const { token } = await platform.register('somebody')
  const read = jest.spyOn(platform.callers, 'authenticate').mockRejectedValue(new Error('a bug'))
  for (const [route, access] of Object.entries(declared))
    if (access !== 'public') expect({ route, status: await attempt(route, token) }).toEqual({ route, status: 500 })
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
