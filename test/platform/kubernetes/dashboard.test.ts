import { readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import pino from 'pino'
import { createCluster } from '../../../src/platform/kubernetes/cluster'
import { serviceAccountOf } from '../../../src/platform/kubernetes/dashboard'
import {
  insertDashboardAccount,
  listStaleDashboardAccounts,
} from '../../../src/platform/state/accounts/dashboardAccounts'
import { isQueryWaiting } from '../../support/platform/isQueryWaiting'
import { KubernetesApi } from '../../support/platform/kubernetesApi'
import { startPlatform, usePlatform } from '../../support/platform/startPlatform'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
const api = new KubernetesApi()
const logged: string[] = []
const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) })
const { platform, account: ann } = usePlatform('Ann', async () => ({
  cluster: createCluster({ source: await api.start(directory()), role: 'view', timeoutMs: 8000, log }),
}))
beforeEach(() => {
  api.refuse = undefined
  api.lie = undefined
  api.isHanging = false
  api.requests.length = 0
})
afterAll(() => api.stop())

const PATH = '/api/admin/k8sdashboard'
const ACCOUNTS = '/api/v1/namespaces/panel/serviceaccounts'
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
const token = (method: 'GET' | 'POST' | 'DELETE', as = ann()) =>
  platform().call(method, `${PATH}/token`, { token: as.token })
/** Creates a token for Ann. */
async function issue(): Promise<string> {
  const { status, body } = await token('POST')
  expect(status).toBe(201)
  return String(body.data.token)
}
const things = () => [...api.things.keys()].sort()

test('§7 the host is that of the setting', async () => {
  expect(await platform().call('GET', `${PATH}/host`, { token: ann().token })).toMatchObject({
    status: 200,
    body: { data: { host: 'https://dashboard.example' } },
  })
})

test('decisions §9: a service account, a role binding and a token are created, and the token is stored encrypted', async () => {
  expect(await token('GET')).toMatchObject({ status: 200, body: { data: { token: null } } })
  expect(await token('POST')).toMatchObject({
    status: 201,
    body: { success: true, data: { token: 'dashboard-token-1' } },
  })
  const name = 'quarterdeck-dashboard-ann'
  const labels = { 'app.kubernetes.io/managed-by': 'quarterdeck' }
  expect(api.requests).toEqual([
    { method: 'GET', path: `${BINDINGS}/${name}`, body: undefined },
    { method: 'GET', path: `${ACCOUNTS}/${name}`, body: undefined },
    {
      method: 'POST',
      path: ACCOUNTS,
      body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'panel', labels } },
    },
    {
      method: 'POST',
      path: BINDINGS,
      body: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name, labels },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        subjects: [{ kind: 'ServiceAccount', name, namespace: 'panel' }],
      },
    },
    {
      method: 'POST',
      path: `${ACCOUNTS}/${name}/token`,
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { audiences: [], expirationSeconds: 86_400 },
      },
    },
  ])
  api.isHanging = true
  expect(await token('GET')).toMatchObject({ status: 200, body: { data: { token: 'dashboard-token-1' } } })
  const rows = JSON.stringify(await platform().db.selectFrom('dashboard_accounts').selectAll().execute())
  expect(rows).toContain(name)
  for (const text of [
    rows,
    JSON.stringify(await platform().db.selectFrom('activity').selectAll().execute()),
    platform().logged.join(''),
    logged.join(''),
  ])
    expect(text).not.toContain('dashboard-token-1')
})

test('creating a second token removes the previous account and its binding', async () => {
  const first = await issue()
  api.requests.length = 0
  const second = await issue()
  expect(second).not.toBe(first)
  expect(api.requests.map(({ method }) => method)).toEqual(['GET', 'DELETE', 'GET', 'DELETE', 'POST', 'POST', 'POST'])
  expect(await token('GET')).toMatchObject({ body: { data: { token: second } } })
})

test('each administrator has a separate token', async () => {
  const ofAnn = await issue()
  const bob = await platform().register('Bob.B_')
  await platform().db.updateTable('users').set({ is_admin: true }).where('username', '=', 'Bob.B_').execute()
  expect(await token('GET', bob)).toMatchObject({ body: { data: { token: null } } })
  expect(await token('POST', bob)).toMatchObject({ status: 201 })
  expect(things()).toEqual(
    [ACCOUNTS, BINDINGS]
      .flatMap((path) => [`${path}/quarterdeck-dashboard-ann`, `${path}/${serviceAccountOf('bob.b_')}`])
      .sort(),
  )
  expect(await token('DELETE', bob)).toMatchObject({ status: 200, body: { data: { token: null } } })
  expect(await token('GET', ann())).toMatchObject({ body: { data: { token: ofAnn } } })
})

test('an expired token is not returned', async () => {
  const issued = await issue()
  platform().clock.now += 25 * 3_600_000
  expect(await token('GET')).toMatchObject({ body: { data: { token: null } } })
  platform().clock.now -= 25 * 3_600_000
  expect(await token('GET')).toMatchObject({ body: { data: { token: issued } } })
})

test('DELETE removes the binding and the account, and afterwards there is no token', async () => {
  await issue()
  api.requests.length = 0
  expect(await token('DELETE')).toMatchObject({ status: 200, body: { data: { token: null } } })
  const name = 'quarterdeck-dashboard-ann'
  expect(api.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `GET ${BINDINGS}/${name}`,
    `DELETE ${BINDINGS}/${name}`,
    `GET ${ACCOUNTS}/${name}`,
    `DELETE ${ACCOUNTS}/${name}`,
  ])
  expect(things()).toEqual([])
  expect(await token('GET')).toMatchObject({ body: { data: { token: null } } })
  expect(await token('DELETE')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
})

test('resources in the cluster that others created are left alone', async () => {
  await token('DELETE')
  const key = `${ACCOUNTS}/quarterdeck-dashboard-ann`
  api.things.set(key, { metadata: { name: 'quarterdeck-dashboard-ann' } })
  expect(await token('POST')).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
  expect(things()).toEqual([key])
  api.things.clear()
})

test('concurrent requests are processed one after another', async () => {
  const answers = await Promise.all([token('POST'), token('POST'), token('POST')])
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
  expect(things()).toHaveLength(2)
  expect((await token('GET')).body.data.token).toBe(`dashboard-token-${api.issued}`)
})

test.each([
  [401, 'Renew them'],
  [403, 'bind the role "view"'],
  [404, 'no namespace "panel" or no ClusterRole "view"'],
  [500, 'status 500'],
])(
  'a cluster that refuses with %d gets 503 with a remedy, without the cluster’s own text, and leaves nothing behind',
  async (status, text) => {
    await token('DELETE')
    api.refuse = { what: /^POST .*(?:bindings|token)$/, status }
    const answer = await token('POST')
    expect(answer).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE', message: expect.stringContaining(text) } })
    expect(JSON.stringify(answer.body)).not.toContain('canary-body')
    expect(things()).toEqual([])
    expect(await platform().db.selectFrom('dashboard_accounts').selectAll().execute()).toEqual([])
  },
)

test('security 53: a cluster that hangs gets 503 in time, and other calls are not affected', async () => {
  await token('DELETE')
  api.requests.length = 0
  api.isHanging = true
  let isOver = false
  const hanging = token('POST').finally(() => (isOver = true))
  await until(() => api.requests.length > 0)
  expect(await platform().call('GET', '/api/users', { token: ann().token })).toMatchObject({ status: 200 })
  expect(isOver).toBe(false)
  expect(await hanging).toMatchObject({
    status: 503,
    body: {
      code: 'UNAVAILABLE',
      message: 'The Kubernetes cluster does not answer. Check that it is running and that KUBECONFIG is correct.',
    },
  })
  expect(await token('GET')).toMatchObject({ body: { data: { token: null } } })
})

test.each([
  ['invalid JSON', 200, '<html>Sign in</html>'],
  ['null', 201, 'null'],
  ['a token that is not a string', 201, '{"status": {"token": 5, "expirationTimestamp": "2100-01-01T00:00:00Z"}}'],
  ['an empty token', 201, '{"status": {"token": "", "expirationTimestamp": "2100-01-01T00:00:00Z"}}'],
  ['a token without an expiration date', 201, '{"status": {"token": "abc"}}'],
  ['a token with an invalid expiration date', 201, '{"status": {"token": "abc", "expirationTimestamp": "tomorrow"}}'],
  ['a failure of 18 MB', 500, `{"message": "${'a\\n'.repeat(6_000_000)}"}`],
])('a cluster that answers %s gets 503 and leaves no account behind', async (_case, status, text) => {
  await token('DELETE')
  api.lie = { what: /^POST .*token$/, status, text }
  expect(await token('POST')).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } })
  expect(things()).toEqual([])
  expect(await token('GET')).toMatchObject({ status: 200, body: { data: { token: null } } })
})

test('a credential plugin of the kubeconfig that hangs is bounded by the time-out of the operation', async () => {
  const config = JSON.parse(await readFile(join(directory(), 'kubeconfig'), 'utf8')) as object
  const kubeconfig = join(directory(), 'plugin')
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'sleep',
    args: ['5'],
    interactiveMode: 'Never',
  }
  await writeFile(kubeconfig, JSON.stringify({ ...config, users: [{ name: 'platform', user: { exec } }] }))
  const cluster = createCluster({ source: { kubeconfig }, role: 'view', timeoutMs: 500, log })
  const since = performance.now()
  await expect(cluster.removeAccount('x')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(performance.now() - since).toBeLessThan(4000)
})

test('a user who is demoted or deleted loses the account in the cluster, even if the cluster was unreachable meanwhile', async () => {
  await platform().db.deleteFrom('dashboard_accounts').execute()
  api.things.clear()
  for (const name of ['cleo', 'dora']) {
    const account = await platform().register(name)
    const { id } = await platform()
      .db.selectFrom('users')
      .select('id')
      .where('username', '=', name)
      .executeTakeFirstOrThrow()
    await platform().call('PATCH', `/api/users/${id}/admin`, { token: ann().token, body: { is_admin: true } })
    expect(await token('POST', account)).toMatchObject({ status: 201 })
    expect(things()).toHaveLength(2)
    if (name === 'cleo') {
      await platform().call('PATCH', `/api/users/${id}/admin`, { token: ann().token, body: { is_admin: false } })
    } else {
      api.refuse = { what: /./, status: 500 }
      await platform().call('DELETE', `/api/users/${id}`, { token: ann().token })
      await until(() => platform().logged.join('').includes('failed to remove service accounts'))
      expect(things()).toHaveLength(2)
      api.refuse = undefined
      await platform().dashboard.sweep()
    }
    await until(() => things().length === 0)
    await until(async () => (await platform().db.selectFrom('dashboard_accounts').selectAll().execute()).length === 0)
  }
})

test('an account that cannot be removed does not keep those of other users', async () => {
  const { db, register, dashboard, logged: lines } = platform()
  for (const name of ['eve', 'finn']) {
    await register(name)
    const { id } = await db.selectFrom('users').select('id').where('username', '=', name).executeTakeFirstOrThrow()
    await insertDashboardAccount(db, serviceAccountOf(name), id)
  }
  const [stuck = '', ...others] = await listStaleDashboardAccounts(db)
  expect(others).toHaveLength(1)
  api.refuse = { what: new RegExp(stuck), status: 500 }
  await dashboard.sweep()
  expect(await listStaleDashboardAccounts(db)).toEqual([stuck])
  expect(lines.some((line) => line.includes(`"account":"${stuck}"`))).toBe(true)
  api.refuse = undefined
  await dashboard.sweep()
  expect(await listStaleDashboardAccounts(db)).toEqual([])
})

test('the activity log records the actions without the token', async () => {
  await issue()
  for (const status of [200, 404]) expect(await token('DELETE')).toMatchObject({ status })
  api.refuse = { what: /^POST .*token$/, status: 500 }
  expect(await token('POST')).toMatchObject({ status: 503 })
  const { entries } = await platform().activityLog.list({ kind: 'token' })
  expect(new Set(entries.map(({ action, succeeded }) => `${action} ${succeeded}`))).toEqual(
    new Set([
      'created dashboard token true',
      'created dashboard token false',
      'deleted dashboard token true',
      'deleted dashboard token false',
    ]),
  )
})

test('without a cluster every call gets 503 at once and says what to configure', async () => {
  const without = await startPlatform()
  const { token: as } = await without.register('ann')
  for (const [method, path] of [
    ['GET', 'host'],
    ['GET', 'token'],
    ['POST', 'token'],
    ['DELETE', 'token'],
  ] as const) {
    const answer = await without.call(method, `${PATH}/${path}`, { token: as })
    expect(answer).toMatchObject({
      status: 503,
      body: { code: 'UNAVAILABLE', message: expect.stringContaining('Set KUBECONFIG') },
    })
  }
  await without.close()
})

test.each([
  ['does not exist', undefined],
  ['is not a kubeconfig', '{"no": "kubeconfig"}'],
  ['is not YAML', ': : :'],
])('a KUBECONFIG that %s gets 503 without revealing the path', async (_case, text) => {
  const kubeconfig = join(directory(), 'broken')
  if (text !== undefined) await writeFile(kubeconfig, text)
  const cluster = createCluster({ source: { kubeconfig }, role: 'view', timeoutMs: 1000, log })
  const failure: unknown = await cluster.removeAccount('x').catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('KUBECONFIG') })
  expect((failure as Error).message).not.toContain(directory())
})

test('KUBECONFIG may list several files, and the namespace defaults to quarterdeck', async () => {
  const config = JSON.parse(await readFile(join(directory(), 'kubeconfig'), 'utf8')) as Record<string, unknown> & {
    contexts: { context: { namespace?: string } }[]
  }
  delete config.contexts[0]!.context.namespace
  const files = ['first', 'second'].map((name) => join(directory(), name))
  await writeFile(files[0]!, JSON.stringify({ ...config, users: [] }))
  await writeFile(
    files[1]!,
    JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [], contexts: [], users: config.users }),
  )
  const cluster = createCluster({ source: { kubeconfig: files.join(delimiter) }, role: 'view', timeoutMs: 8000, log })
  await cluster.removeAccount('x')
  expect(api.requests.map(({ path }) => path)).toEqual([
    `${BINDINGS}/x`,
    '/api/v1/namespaces/quarterdeck/serviceaccounts/x',
  ])
})

test('usernames become unique names that are valid in Kubernetes (RFC 1123)', () => {
  expect(serviceAccountOf('ann')).toBe('quarterdeck-dashboard-ann')
  expect(serviceAccountOf('Ann.B-2')).toBe('quarterdeck-dashboard-ann.b-2')
  const alphabet = 'aB2_.-'
  const names = [...alphabet].flatMap((a) =>
    [...alphabet].flatMap((b) => [...alphabet].flatMap((c) => [...alphabet].map((d) => a + b + c + d))),
  )
  const derived = new Map<string, string>()
  for (const name of [
    ...names,
    ...names.map((name) => serviceAccountOf(name).slice('quarterdeck-dashboard-'.length)),
  ]) {
    const account = serviceAccountOf(name)
    expect(account).toMatch(
      /^quarterdeck-dashboard-[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/,
    )
    const other = derived.get(account) ?? name
    expect({ account, name: name.toLowerCase() }).toEqual({ account, name: other.toLowerCase() })
    derived.set(account, other)
  }
})

test('a user who is demoted while their request waits gets no token', async () => {
  const cora = await platform().register('cora')
  const { db } = platform()
  await db.updateTable('users').set({ is_admin: true }).where('username', '=', 'cora').execute()
  let answer: ReturnType<typeof token> | undefined
  await db.transaction().execute(async (transaction) => {
    const user = transaction.selectFrom('users').select('id').where('username', '=', 'cora')
    await user.forUpdate().execute()
    answer = token('POST', cora)
    await until(() => isQueryWaiting(db))
    await transaction.updateTable('users').set({ is_admin: false }).where('username', '=', 'cora').execute()
  })
  expect(await answer).toMatchObject({ status: 403, body: { code: 'NOT_ALLOWED' } })
  expect(things().filter((name) => name.includes('cora'))).toEqual([])
})
