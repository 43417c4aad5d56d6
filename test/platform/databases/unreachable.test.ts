import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import pino from 'pino'
import { createMongo } from '../../../src/platform/databases/mongo/mongo'
import type { DatabaseServer } from '../../../src/platform/databases/databaseServer'
import { createPostgres } from '../../../src/platform/databases/postgres'
import type { Secrets } from '../../../src/platform/state/secrets'
import { awakeMs } from '../../support/time/awakeMs'
import { breakableProxy } from '../../support/platform/breakableProxy'
import { freshDatabase, onServer } from '../../support/platform/freshState'
import { mongoPath } from '../../support/platform/mongoPath'
import { testWithMongo } from '../../support/platform/testWithMongo'
import { testPostgres, usePlatform, type Answer } from '../../support/platform/startPlatform'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

jest.setTimeout(90_000)

const directory = useTemporaryDirectory()
/** Accepts connections and never answers. */
let silentServer: Server
let silentPort: number
/** The servers of the current test. */
let servers: Partial<Record<'sql' | 'mongo', DatabaseServer>> = {}
const logged: string[] = []
const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) })

beforeAll(async () => {
  silentServer = createServer().listen(0, '127.0.0.1')
  await once(silentServer, 'listening')
  silentPort = (silentServer.address() as AddressInfo).port
})
const { platform, account: author } = usePlatform('author', () => ({
  sql: present('sql', testPostgres()),
  mongo: present('mongo', mongoAt(undefined)),
}))
afterEach(closeServers)
afterAll(() => silentServer.close())

/** The server that the test provides, otherwise a healthy one. */
function present(type: 'sql' | 'mongo', healthy: DatabaseServer): DatabaseServer {
  return new Proxy(healthy, {
    get: (_target, name) => (name === 'close' ? healthy : (servers[type] ?? healthy))[name as keyof DatabaseServer],
  })
}

async function closeServers(): Promise<void> {
  await Promise.all([servers.sql?.close(), servers.mongo?.close()])
  servers = {}
}

const postgresAt = (url: string): DatabaseServer =>
  createPostgres({
    url: async () => url,
    title: 'The PostgreSQL server of QUARTERDECK_SQL_URL',
    remedy: 'Start it or correct the setting.',
    state: undefined,
    log,
  })
/** Runs a MongoDB server beside the platform() if one is installed. */
const mongoAt = (url: string | undefined): DatabaseServer =>
  createMongo({ url, dataDir: directory(), path: mongoPath ?? '', secrets: {} as Secrets, log })

async function use(other: typeof servers): Promise<void> {
  await closeServers()
  servers = other
}

async function ask(method: 'GET' | 'POST', type: string, body?: unknown) {
  let answer: Answer | undefined
  const took = await awakeMs(
    async () => (answer = await platform().call(method, `/api/database/${type}`, { token: author().token, body })),
  )
  const {
    status,
    body: { code, message, data },
  } = answer!
  return { status, code, message, data, inTime: took < 5000 }
}

const unreachable: [string, () => string][] = [
  ['nobody listens on', () => '127.0.0.1:1'],
  ['takes connections and never answers', () => `127.0.0.1:${silentPort}`],
]

test.each(unreachable)(
  'security 52: a PostgreSQL that %s gets 503 within 5 s, naming its setting; MongoDB databases and the rest work',
  async (_case, host) => {
    await use({ sql: postgresAt(`postgresql://admin:very-secret@${host()}/postgres`), mongo: mongoAt(undefined) })
    const message = 'The PostgreSQL server of QUARTERDECK_SQL_URL does not answer. Start it or correct the setting.'
    expect(await ask('GET', 'sql')).toMatchObject({ status: 503, code: 'UNAVAILABLE', message, inTime: true })
    expect(await ask('POST', 'sql', { name: 'plots' })).toMatchObject({
      status: 503,
      code: 'UNAVAILABLE',
      message,
      inTime: true,
    })
    if (mongoPath !== undefined) expect(await ask('GET', 'mongo')).toMatchObject({ status: 200, inTime: true })
    expect((await platform().call('GET', '/api/deployments', { token: author().token })).status).toBe(200)
    expect(logged.join('') + platform().logged.join('')).not.toContain('very-secret')
  },
)

test.each(unreachable)(
  'security 52: a MongoDB that %s gets 503 within 5 s, naming its setting; SQL databases and the rest work',
  async (_case, host) => {
    await use({ mongo: mongoAt(`mongodb://admin:very-secret@${host()}/`) })
    const message = 'The MongoDB server of QUARTERDECK_MONGO_URL does not answer. Start it or correct the setting.'
    expect(await ask('GET', 'mongo')).toMatchObject({ status: 503, code: 'UNAVAILABLE', message, inTime: true })
    expect(await ask('POST', 'mongo', { name: 'plots' })).toMatchObject({
      status: 503,
      code: 'UNAVAILABLE',
      message,
      inTime: true,
    })
    expect(await ask('GET', 'sql')).toMatchObject({ status: 200, inTime: true })
    expect((await platform().call('GET', '/api/deployments', { token: author().token })).status).toBe(200)
    expect(logged.join('') + platform().logged.join('')).not.toContain('very-secret')
  },
)

test('a PostgreSQL that refuses the password or lacks the database of the URL gets 503 with the reason', async () => {
  const url = new URL(process.env.TEST_POSTGRES_URL!)
  url.password = 'very-secret'
  await use({ sql: postgresAt(url.href) })
  expect(await ask('GET', 'sql')).toMatchObject({
    status: 503,
    message: 'The PostgreSQL server of QUARTERDECK_SQL_URL rejects the configured user or password. Correct them.',
  })
  const nowhere = new URL(process.env.TEST_POSTGRES_URL!)
  nowhere.pathname = '/not_there'
  await use({ sql: postgresAt(nowhere.href) })
  expect(await ask('GET', 'sql')).toMatchObject({
    status: 503,
    message:
      'The PostgreSQL server of QUARTERDECK_SQL_URL does not have the database in its URL. Create it or correct the URL.',
  })
})

test('security 215: a PostgreSQL that refuses connections, also because of TLS, gets 503 that names its setting', async () => {
  const message = expect.stringMatching(
    /^The PostgreSQL server of QUARTERDECK_SQL_URL refuses what it is asked/,
  ) as string
  const { url, drop } = await freshDatabase()
  const encrypted = new URL(url)
  encrypted.searchParams.set('sslmode', 'verify-full')
  await use({ sql: postgresAt(encrypted.href) })
  expect(await ask('GET', 'sql')).toMatchObject({ status: 503, message })
  expect(platform().logged.join('')).toContain('does not support SSL')

  await onServer((admin) =>
    admin.query(`alter database ${new URL(url).pathname.slice(1)} with allow_connections false`),
  )
  await use({ sql: postgresAt(url) })
  expect(await ask('GET', 'sql')).toMatchObject({ status: 503, message })
  await use({})
  await drop()
})

test('a PostgreSQL user who may not create roles gets 503 with the missing right', async () => {
  const { url, drop } = await freshDatabase()
  const owner = testPostgres()
  const database = {
    id: '11111111-2222-4333-8444-555555555555',
    physical_name: `modest_${process.pid}`,
    username: `modest_${process.pid}`,
  }
  await owner.create(database, 'a-password')
  const modest = new URL(url)
  Object.assign(modest, { username: database.username, password: 'a-password', pathname: `/${database.physical_name}` })
  await use({ sql: postgresAt(modest.href) })
  expect(await ask('POST', 'sql', { name: 'plots' })).toMatchObject({
    status: 503,
    code: 'UNAVAILABLE',
    message: expect.stringContaining('CREATEDB and CREATEROLE'),
  })
  expect(await ask('GET', 'sql')).toMatchObject({ status: 200, data: { databases: [] } })
  await closeServers()
  await owner.remove(database)
  await owner.close()
  await drop()
})

test('security 52: a PostgreSQL that was unreachable is used again once it is back', async () => {
  const url = new URL(process.env.TEST_POSTGRES_URL!)
  const proxy = await breakableProxy({ host: '127.0.0.1', port: Number(url.port) })
  url.port = String(proxy.port)
  await use({ sql: postgresAt(url.href) })
  expect(await ask('GET', 'sql')).toMatchObject({ status: 200 })
  proxy.breakAfter(1)
  expect(await ask('GET', 'sql')).toMatchObject({ status: 503, inTime: true })
  expect(await ask('GET', 'sql')).toMatchObject({ status: 503, inTime: true })
  proxy.mend()
  expect(await ask('GET', 'sql')).toMatchObject({ status: 200 })
  await closeServers()
  await proxy.close()
})

test('security 52: a PostgreSQL that stops answering on an open connection gets 503 within 5 s', async () => {
  const url = new URL(process.env.TEST_POSTGRES_URL!)
  const proxy = await breakableProxy({ host: '127.0.0.1', port: Number(url.port) })
  url.port = String(proxy.port)
  await use({ sql: postgresAt(url.href) })
  expect(await ask('GET', 'sql')).toMatchObject({ status: 200 })
  proxy.fallSilent()
  expect(await ask('GET', 'sql')).toMatchObject({ status: 503, inTime: true })
  expect(await ask('POST', 'sql', { name: 'plots' })).toMatchObject({ status: 503, inTime: true })
  proxy.mend()
  expect(await ask('GET', 'sql')).toMatchObject({ status: 200 })
  await closeServers()
  await proxy.close()
})

test('while changes wait for a server that hangs, further ones are refused instead of queued', async () => {
  let answer = () => {}
  const answered = new Promise<void>((resolve) => (answer = resolve))
  const sql = testPostgres()
  await use({ sql: { ...sql, create: (...created) => answered.then(() => sql.create(...created)) } })
  const statuses: number[] = []
  const changes = Array.from({ length: 5 }, async (_change, at) => {
    const { status, message } = await ask('POST', 'sql', { name: `hung${at}` })
    statuses.push(status)
    if (status !== 201) expect(message).toBe('Other changes of databases are still in progress. Try again in a moment.')
  })
  await until(() => statuses.length === 3)
  expect(await ask('GET', 'sql')).toMatchObject({ status: 200, inTime: true })
  if (mongoPath !== undefined) expect(await ask('POST', 'mongo', { name: 'other' })).toMatchObject({ status: 201 })
  answer()
  await Promise.all(changes)
  expect(statuses).toEqual([503, 503, 503, 201, 201])
  expect(await ask('POST', 'sql', { name: 'later' })).toMatchObject({ status: 201 })
})

test('a MongoDB URL that the driver cannot parse gets 503 with the reason', async () => {
  await use({ mongo: mongoAt('mongodb://admin:very-secret@127.0.0.1/?nonsense=1') })
  expect(await ask('GET', 'mongo')).toMatchObject({
    status: 503,
    message: 'The MongoDB server of QUARTERDECK_MONGO_URL cannot be used: its URL is not valid. Correct the setting.',
  })
})

const testFerret = mongoPath?.includes('ferretdb-') ? testWithMongo : test.skip

testFerret(
  'a FerretDB at QUARTERDECK_MONGO_URL is refused because it does not isolate databases from each other',
  async () => {
    const ferret = mongoAt(undefined)
    const database = { id: '99999999-2222-4333-8444-555555555555', physical_name: 'outside', username: 'outside' }
    await ferret.create(database, 'a-password-of-theirs')
    const { port } = await ferret.address(database, '')
    await use({ mongo: mongoAt(`mongodb://outside:a-password-of-theirs@127.0.0.1:${port}/outside`) })
    expect(await ask('POST', 'mongo', { name: 'plots' })).toMatchObject({
      status: 503,
      message: expect.stringContaining('is FerretDB, which cannot keep users out'),
    })
    await use({ mongo: mongoAt(`mongodb://outside:wrong-password@127.0.0.1:${port}/outside`) })
    expect(await ask('GET', 'mongo')).toMatchObject({
      status: 503,
      message: 'The MongoDB server of QUARTERDECK_MONGO_URL rejects the configured user or password. Correct them.',
    })
    expect(logged.join('')).not.toContain('wrong-password')
    await ferret.remove(database)
    await ferret.close()
  },
)
