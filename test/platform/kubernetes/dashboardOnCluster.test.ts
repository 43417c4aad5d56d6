import { join } from 'node:path'
import { decodeJwt } from 'jose'
import pino from 'pino'
import { createCluster } from '../../../src/platform/kubernetes/cluster'
import { serviceAccountOf } from '../../../src/platform/kubernetes/dashboard'
import { clusterTitle, hasCluster, startCluster, type TestCluster } from '../../support/platform/cluster'
import { tokenOf, writeTokenConfig } from '../../support/platform/clusterAccount'
import { deployPath, readManifests, type Manifest } from '../../support/platform/deployFiles'
import { startPlatform, type Account, type TestPlatform } from '../../support/platform/startPlatform'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const NAMESPACE = 'quarterdeck'
const PATH = '/api/admin/k8sdashboard/token'
/** The API server caches a checked token for 10 s. */
const REVOKED_SECONDS = 20

const directory = useTemporaryDirectory()
let cluster: TestCluster
/** Of an account with the rights of the manifests. */
let kubeconfig: string
let platform: TestPlatform
let ann: Account

/** Kubectl with a token alone. @returns what it prints, errors included */
async function kubectlWith(token: string, ...args: string[]): Promise<string> {
  const path = join(directory(), 'as-token')
  writeTokenConfig(cluster, path, token)
  return cluster
    .kubectl('--kubeconfig', path, ...args)
    .catch(({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr)
}
const whoIs = (token: string) => kubectlWith(token, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
const isRefused = (token: string) =>
  until(
    () => whoIs(token),
    (said) => /Unauthorized/i.test(said),
    REVOKED_SECONDS,
  )
const accounts = async () =>
  (await cluster.kubectl('get', 'serviceaccounts,clusterrolebindings', '-A', '-o', 'name', '-l', LABEL))
    .trim()
    .split('\n')
    .filter(Boolean)
    .sort()
type Step = 'create an account' | 'issue a token' | 'remove an account'
/** Each right of the manifests, and what fails without it. */
const NEEDED: Record<string, Step> = {
  'create serviceaccounts': 'create an account',
  'create clusterrolebindings': 'create an account',
  'bind clusterroles': 'create an account',
  'create serviceaccounts/token': 'issue a token',
  'get serviceaccounts': 'remove an account',
  'delete serviceaccounts': 'remove an account',
  'get clusterrolebindings': 'remove an account',
  'delete clusterrolebindings': 'remove an account',
}
const LABEL = 'app.kubernetes.io/managed-by=quarterdeck'

async function newToken(account: Account): Promise<string> {
  const { status, body } = await platform.call('POST', PATH, { token: account.token })
  expect([status, body.message]).toEqual([201, undefined])
  return String(body.data.token)
}

async function registerAdmin(name: string): Promise<{ account: Account; id: number }> {
  const account = await platform.register(name)
  const { body } = await platform.call('GET', '/api/users', { token: ann.token })
  const { id } = (body.data.users as { id: number; username: string }[]).find(({ username }) => username === name)!
  await setAdmin(id, true)
  return { account: { ...account, token: await platform.signIn(account) }, id }
}

async function setAdmin(id: number, isAdmin: boolean): Promise<void> {
  const answer = await platform.call('PATCH', `/api/users/${id}/admin`, {
    token: ann.token,
    body: { is_admin: isAdmin },
  })
  expect(answer.status).toBe(200)
}

;(hasCluster ? describe : describe.skip)(clusterTitle('the dashboard’s tokens on a real API server'), () => {
  beforeAll(async () => {
    cluster = await startCluster('--kwok')
    await cluster.kubectl('create', 'namespace', NAMESPACE)
    await cluster.kubectl('-n', NAMESPACE, 'create', 'serviceaccount', 'quarterdeck')
    await cluster.kubectl('apply', '-f', deployPath('kubernetes/dashboard/access.yaml'))
    kubeconfig = join(directory(), 'platform')
    writeTokenConfig(cluster, kubeconfig, await tokenOf(cluster, NAMESPACE, 'quarterdeck'))
    platform = await startPlatform({ environment: { KUBECONFIG: kubeconfig } })
    ann = await platform.register('ann')
  }, 120_000)
  afterAll(async () => {
    await platform?.close()
    await cluster?.stop()
  }, 60_000)

  test('a token signs in as the user’s service account, with the rights of the role, for 24 hours', async () => {
    const token = await newToken(ann)
    expect(await whoIs(token)).toBe(`system:serviceaccount:${NAMESPACE}:quarterdeck-dashboard-ann`)
    const may = async (...args: string[]) => (await kubectlWith(token, 'auth', 'can-i', ...args)).trim().slice(0, 3)
    expect(await may('list', 'pods', '-A')).toBe('yes')
    expect(await may('create', 'pods')).toMatch(/^no/)
    expect(await may('get', 'secrets')).toMatch(/^no/)
    const { exp = 0, iat = 0 } = decodeJwt(token)
    expect(exp - iat).toBe(86_400)
    expect(await platform.call('GET', PATH, { token: ann.token })).toMatchObject({ body: { data: { token } } })
    expect(await accounts()).toEqual([
      'clusterrolebinding.rbac.authorization.k8s.io/quarterdeck-dashboard-ann',
      'serviceaccount/quarterdeck-dashboard-ann',
    ])
  })

  test('a new token revokes the previous one, and a deleted one is refused', async () => {
    const first = await newToken(ann)
    const second = await newToken(ann)
    await isRefused(first)
    expect(await whoIs(second)).toContain('quarterdeck-dashboard-ann')
    expect(await platform.call('DELETE', PATH, { token: ann.token })).toMatchObject({ status: 200 })
    await isRefused(second)
    expect(await accounts()).toEqual([])
  })

  test('a user who is demoted or deleted loses the token', async () => {
    const bob = await registerAdmin('Bob.B_')
    const cleo = await registerAdmin('cleo')
    const [ofBob, ofCleo] = [await newToken(bob.account), await newToken(cleo.account)]
    expect(await whoIs(ofBob)).toContain(serviceAccountOf('Bob.B_'))
    expect(await whoIs(ofCleo)).toContain('quarterdeck-dashboard-cleo')

    await setAdmin(bob.id, false)
    expect(await platform.call('GET', PATH, { token: bob.account.token })).toMatchObject({ status: 403 })
    await isRefused(ofBob)
    expect(await whoIs(ofCleo)).toContain('quarterdeck-dashboard-cleo')
    expect(await platform.call('DELETE', `/api/users/${cleo.id}`, { token: ann.token })).toMatchObject({ status: 200 })
    await isRefused(ofCleo)
    expect(await accounts()).toEqual([])
  })

  test('a service account that the platform did not create is not changed, even if its name is that of one it would create', async () => {
    const name = 'quarterdeck-dashboard-ann'
    await cluster.kubectl('-n', NAMESPACE, 'create', 'serviceaccount', name)
    expect(await platform.call('POST', PATH, { token: ann.token })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    })
    expect(await cluster.kubectl('-n', NAMESPACE, 'get', 'serviceaccounts', '-o', 'name')).toContain(name)
    await cluster.kubectl('-n', NAMESPACE, 'delete', 'serviceaccount', name)
    expect(await whoIs(await newToken(ann))).toContain(name)
  })

  test.each(['a.b-c', '_._', '-.', 'A__b', '0123456789', `${'x.'.repeat(15)}yz`, '-'.repeat(32)])(
    'the cluster accepts the service account of the user %s',
    async (username) => {
      const log = pino({ level: 'silent' })
      const direct = createCluster({ source: { kubeconfig }, role: 'view', timeoutMs: 8000, log })
      const name = serviceAccountOf(username)
      await direct.createAccount(name)
      expect((await direct.issueToken(name, 86_400)).token).toContain('.')
      await direct.removeAccount(name)
      await direct.removeAccount(name)
    },
  )

  test('a role that the platform may not bind is refused with 503, and no account is left', async () => {
    const log = pino({ level: 'silent' })
    const cluster = createCluster({ source: { kubeconfig }, role: 'cluster-admin', timeoutMs: 8000, log })
    const other = await startPlatform({ cluster })
    const dora = await other.register('dora')
    expect(await other.call('POST', PATH, { token: dora.token })).toMatchObject({
      status: 503,
      body: { code: 'UNAVAILABLE', message: expect.stringMatching(/cluster-admin|allow/i) as string },
    })
    expect((await accounts()).filter((name) => name.includes('dora'))).toEqual([])
    await other.close()
  })

  describe('the rights of the manifests', () => {
    const manifests = readManifests('kubernetes/dashboard/access.yaml')
    const name = 'quarterdeck-dashboard-rights'

    /** Replaces the roles of the manifests by those without a right. */
    async function takeAway(right?: string): Promise<void> {
      const items = manifests.map((manifest) => ({
        ...manifest,
        ...(manifest.rules && {
          rules: manifest.rules
            .map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => `${verb} ${rule.resources[0]}` !== right) }))
            .filter(({ verbs }) => verbs.length > 0),
        }),
      }))
      await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    }

    async function firstFailure(): Promise<Step | undefined> {
      const direct = createCluster({
        source: { kubeconfig },
        role: 'view',
        timeoutMs: 8000,
        log: pino({ level: 'silent' }),
      })
      const steps: Record<Step, () => Promise<unknown>> = {
        'create an account': () => direct.createAccount(name),
        'issue a token': () => direct.issueToken(name, 3600),
        'remove an account': () => direct.removeAccount(name),
      }
      try {
        for (const [step, take] of Object.entries(steps) as [Step, () => Promise<unknown>][])
          if (
            !(await take().then(
              () => true,
              () => false,
            ))
          )
            return step
        return undefined
      } finally {
        await cluster.kubectl('-n', NAMESPACE, 'delete', '--ignore-not-found', 'serviceaccount', name)
        await cluster.kubectl('delete', '--ignore-not-found', 'clusterrolebinding', name)
      }
    }

    afterAll(() => takeAway())

    test('each right, and no other, has a test in which it is missing', () => {
      const rights = manifests.flatMap(({ rules = [] }: Partial<Manifest>) =>
        rules.flatMap(({ verbs, resources }) => verbs.map((verb) => `${verb} ${resources[0]}`)),
      )
      expect(rights.sort()).toEqual(Object.keys(NEEDED).sort())
    })

    test.each(Object.entries(NEEDED))('without the right to %s the platform fails to %s', async (right, step) => {
      await takeAway()
      await until(firstFailure, (failed) => failed === undefined)
      await takeAway(right)
      await until(firstFailure, (failed) => failed !== undefined)
      expect(await firstFailure()).toBe(step)
    })
  })
})
