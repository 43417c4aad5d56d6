import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import Fastify from 'fastify'
import { createTrustedProxies } from '../../src/platform/accounts/clientAddress'
import { readSettings, settingsTable } from '../../src/platform/config'

test('decisions §11: settings that are not set have their defaults', () => {
  expect(readSettings({})).toEqual({
    host: '127.0.0.1',
    port: 8080,
    dataDir: resolve('data'),
    shareDir: resolve('data/nfsshare'),
    stateUrl: undefined,
    isolation: 'auto',
    programs: [],
    programPath: '',
    runtime: 'local',
    namespace: 'quarterdeck',
    shareClaim: 'quarterdeck-share',
    image: 'eclipse-temurin:21-jre',
    uploadLimit: 10 * 2 ** 30,
    cluster: undefined,
    dashboardRole: 'view',
    dashboardHost: undefined,
    publicUrl: undefined,
    basePath: '',
    origins: [],
    trustedProxies: [],
    firstInvite: undefined,
    logLevel: 'info',
    sample: true,
  })
})

test('localhost resolves to one address, so that every connection passes one server and its limits', () => {
  expect(readSettings({ QUARTERDECK_HOST: 'localhost' })).toMatchObject({ host: '127.0.0.1' })
})

test('values are read, and empty ones count as absent', () => {
  expect(
    readSettings({
      QUARTERDECK_PORT: '0',
      QUARTERDECK_HOST: '',
      QUARTERDECK_SHARE_DIR: '/mnt/share',
      QUARTERDECK_ORIGINS: 'https://a.example, https://b.example:8443',
      QUARTERDECK_SAMPLE: 'off',
      UNRELATED: 'x',
    }),
  ).toMatchObject({
    port: 0,
    host: '127.0.0.1',
    shareDir: '/mnt/share',
    origins: ['https://a.example', 'https://b.example:8443'],
    sample: false,
  })
})

test('decisions §9: the cluster of KUBECONFIG is used, otherwise the one that the platform runs in', () => {
  expect(readSettings({ KUBECONFIG: '/a:/b', KUBERNETES_SERVICE_HOST: '10.0.0.1' }).cluster).toEqual({
    kubeconfig: '/a:/b',
  })
  expect(readSettings({ KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBECONFIG: '' }).cluster).toBe('own')
  expect(readSettings({ QUARTERDECK_DASHBOARD_HOST: 'k8s.example:8443' }).dashboardHost).toBe(
    'https://k8s.example:8443',
  )
})

test.each([
  ['https://example.org', ''],
  ['https://example.org/', ''],
  ['https://example.org:8443/console/', '/console'],
  ['http://10.0.0.1/games/quarter-deck_2', '/games/quarter-deck_2'],
])('QUARTERDECK_PUBLIC_URL %s: sockets of its origin are accepted', (url, basePath) => {
  const { origin } = new URL(url)
  expect(readSettings({ QUARTERDECK_PUBLIC_URL: url, QUARTERDECK_ORIGINS: 'https://a.example' })).toMatchObject({
    publicUrl: origin + basePath,
    basePath,
    origins: ['https://a.example', origin],
  })
})

test.each([
  'example.org',
  'ftp://example.org',
  'https://ann:secret@example.org/console',
  'https://example.org/console?x=1',
  'https://example.org/#console',
  'https://example.org//console',
  'https://example.org/a/../console',
  'https://example.org/a"b',
  'https://example.org/%63onsole',
])('QUARTERDECK_PUBLIC_URL rejects %s', (url) => {
  expect(() => readSettings({ QUARTERDECK_PUBLIC_URL: url })).toThrow('QUARTERDECK_PUBLIC_URL: must be an address such')
})

test.each(['/api', '/assets/console', '/socket.io', '/files', '/files/console', '/Login', '/deployments/a/edit'])(
  'QUARTERDECK_PUBLIC_URL rejects the path %s, whose requests look like others of the console',
  (path) => {
    expect(() => readSettings({ QUARTERDECK_PUBLIC_URL: `https://example.org${path}` })).toThrow(
      'QUARTERDECK_PUBLIC_URL: has a path that begins like one of the console’s own pages or calls: use another one',
    )
  },
)

test.each([
  'mongodb://db.example',
  'mongodb+srv://admin:p%40ss@cluster.example/?retryWrites=true',
  'mongodb://admin:pa,ss@one:27017,two:27018,[::1]:27019/admin?replicaSet=rs0&readPreferenceTags=dc:a,rack:1',
])('QUARTERDECK_MONGO_URL accepts %s', (url) => {
  expect(readSettings({ QUARTERDECK_MONGO_URL: url }).mongoUrl).toBe(url)
})

test.each([
  'mongodb://',
  'mongodb:///admin',
  'mongodb://one:27017,/admin',
  'mongodb://one:port',
  'mongodb://a b',
  'postgresql://db.example',
  'db.example:27017',
])('QUARTERDECK_MONGO_URL rejects %s', (url) => {
  expect(() => readSettings({ QUARTERDECK_MONGO_URL: url })).toThrow(
    'QUARTERDECK_MONGO_URL: must be a URL such as mongodb://',
  )
})

test.each([
  '10.0.0.1',
  '10.0.0.0/8',
  '10.0.0.1/32',
  '::1',
  'fd00::/8',
  'fd00::1/128',
  '::ffff:10.0.0.1',
  '::ffff:10.0.0.0/104',
])('QUARTERDECK_TRUSTED_PROXIES accepts %s, and so do Fastify and the limits of connections', (proxy) => {
  const { trustedProxies } = readSettings({ QUARTERDECK_TRUSTED_PROXIES: proxy })
  expect(trustedProxies).toEqual([proxy])
  expect(() => createTrustedProxies(trustedProxies)).not.toThrow()
  expect(() => Fastify({ trustProxy: trustedProxies })).not.toThrow()
})

test.each([
  '10.0.0.0/999',
  '10.0.0.0/33',
  '10.0.0.0/0',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0.0/-1',
  '10.0.0/8',
  'fd00::/129',
  'fe80::1%eth0',
  'proxy.example',
  // These contain all IPv4 addresses.
  '::ffff:10.0.0.0/8',
  '::ffff:0:0/96',
  '::/1',
])('QUARTERDECK_TRUSTED_PROXIES rejects %s', (proxy) => {
  expect(() => readSettings({ QUARTERDECK_TRUSTED_PROXIES: proxy })).toThrow(
    'QUARTERDECK_TRUSTED_PROXIES: must be a comma-separated list of addresses or networks such as 10.0.0.0/8',
  )
})

test('each invalid value is reported in one line that names its setting', () => {
  const wrong = {
    QUARTERDECK_PORT: '70000',
    QUARTERDECK_STATE_URL: 'mysql://x',
    QUARTERDECK_SQL_URL: 'nonsense',
    QUARTERDECK_MONGO_URL: 'http://x',
    QUARTERDECK_RUNTIME: 'docker',
    QUARTERDECK_DASHBOARD_ROLE: 'not a role',
    QUARTERDECK_DASHBOARD_HOST: 'javascript://alert',
    QUARTERDECK_PUBLIC_URL: '/console',
    QUARTERDECK_ORIGINS: 'example.com/path',
    QUARTERDECK_TRUSTED_PROXIES: 'everybody',
    QUARTERDECK_FIRST_INVITE: 'short',
    QUARTERDECK_LOG_LEVEL: 'loud',
    QUARTERDECK_SAMPLE: 'maybe',
    QUARTERDECK_PROT: '8080',
  }
  let lines: string[] = []
  try {
    readSettings(wrong)
  } catch (error) {
    lines = (error as { lines: string[] }).lines
  }
  expect(lines.map((line) => line.split(':')[0]).sort()).toEqual(Object.keys(wrong).sort())
  expect(lines).toContain('QUARTERDECK_PORT: must be a port from 0 to 65535')
  expect(lines).toContain('QUARTERDECK_PROT: is not a setting of this version')
})

test('the variables of the command line do not prevent the start', () => {
  const environment = { QUARTERDECK_SERVER: 'https://console.example', QUARTERDECK_KEY: 'qd_secret' }
  expect(readSettings(environment)).toEqual(readSettings({}))
})

test('the README lists the settings as they are', () => {
  expect(readFileSync(join(__dirname, '../../README.md'), 'utf8')).toContain(settingsTable())
})

const openId = {
  QUARTERDECK_OIDC_ISSUER: 'https://login.example/realms/games',
  QUARTERDECK_OIDC_CLIENT_ID: 'quarterdeck',
  QUARTERDECK_OIDC_CLIENT_SECRET: 'a secret',
  QUARTERDECK_OIDC_ROLES: 'admins=administrator, the staff=operator,a=b=operator,*=limited',
}

test('the settings of OpenID Connect are read, with their defaults', () => {
  expect(readSettings(openId).openId).toEqual({
    issuer: 'https://login.example/realms/games',
    clientId: 'quarterdeck',
    clientSecret: 'a secret',
    roleClaim: 'groups',
    name: 'single sign-on',
    roles: {
      roles: new Map([
        ['admins', 'administrator'],
        ['the staff', 'operator'],
        ['a=b', 'operator'],
      ]),
      otherwise: 'limited',
    },
  })
})

test.each(['http://localhost:3000', 'http://127.0.0.1/auth', 'http://[::1]:80', 'https://login.example'])(
  'QUARTERDECK_OIDC_ISSUER accepts %s',
  (issuer) => {
    expect(readSettings({ ...openId, QUARTERDECK_OIDC_ISSUER: issuer }).openId?.issuer).toBe(issuer)
  },
)

test.each([
  ['QUARTERDECK_OIDC_ISSUER', 'http://login.example'],
  ['QUARTERDECK_OIDC_ISSUER', 'http://127.0.0.1.evil.example'],
  ['QUARTERDECK_OIDC_ISSUER', 'login.example'],
  ['QUARTERDECK_OIDC_ISSUER', 'https://login.example?realm=games'],
  ['QUARTERDECK_OIDC_ISSUER', 'https://ann:secret@login.example'],
  ['QUARTERDECK_OIDC_CLIENT_ID', ' '],
  ['QUARTERDECK_OIDC_ROLE_CLAIM', 'two words'],
  ['QUARTERDECK_OIDC_NAME', 'x'.repeat(41)],
  ['QUARTERDECK_OIDC_ROLES', 'admins'],
  ['QUARTERDECK_OIDC_ROLES', 'admins=root'],
  ['QUARTERDECK_OIDC_ROLES', '=operator'],
  ['QUARTERDECK_OIDC_ROLES', 'a=operator,'],
  ['QUARTERDECK_OIDC_ROLES', 'a=operator,a=limited'],
])('%s rejects %s with one line', (name, value) => {
  expect(() => readSettings({ ...openId, [name]: value })).toThrow(
    expect.objectContaining({ lines: [expect.stringMatching(`^${name}: must be `)] }),
  )
})

test('incomplete settings of OpenID Connect stop the start with a line for each missing one', () => {
  expect(() => readSettings({ QUARTERDECK_OIDC_ISSUER: 'https://login.example' })).toThrow(
    expect.objectContaining({
      lines: ['CLIENT_ID', 'CLIENT_SECRET', 'ROLES'].map(
        (name) => `QUARTERDECK_OIDC_${name}: is missing, but QUARTERDECK_OIDC_ISSUER is set`,
      ),
    }),
  )
  expect(() => readSettings({ ...openId, QUARTERDECK_OIDC_ISSUER: '' })).toThrow(
    expect.objectContaining({ lines: ['QUARTERDECK_OIDC_ISSUER: is missing, but QUARTERDECK_OIDC_CLIENT_ID is set'] }),
  )
})
