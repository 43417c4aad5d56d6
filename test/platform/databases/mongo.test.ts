import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import pino from 'pino'
import type { Database } from '../../../src/contract/database'
import { createMongo } from '../../../src/platform/databases/mongo/mongo'
import type { DatabaseServer } from '../../../src/platform/databases/databaseServer'
import { openSecrets } from '../../../src/platform/state/secrets'
import { awakeMs } from '../../support/platform/awakeMs'
import { commandLine } from '../../cli/runCli'
import { freshState, type FreshState } from '../../support/platform/freshState'
import { rightsOf } from '../../support/platform/limitedUsers'
import { mongoPath } from '../../support/platform/mongoPath'
import { testWithMongo } from '../../support/platform/testWithMongo'
import { processesOf } from '../../support/platform/processesOf'
import { startPlatform, type Account, type TestPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

jest.setTimeout(90_000)

let dataDir: string
let state: FreshState
let mongo: DatabaseServer
let platform: TestPlatform
let user: Account
const isFerret = mongoPath?.includes('ferretdb-') ?? false
const logged: string[] = []
const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) })

async function openMongo(): Promise<DatabaseServer> {
  return createMongo({
    url: undefined,
    dataDir,
    path: mongoPath ?? '',
    secrets: await openSecrets(dataDir, state.db),
    log,
  })
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-mongo-'))
  state = await freshState()
  mongo = await openMongo()
  platform = await startPlatform({ mongo })
  user = await platform.register('plugin-author')
})
afterAll(async () => {
  await platform.close()
  await state.close()
  expect(processesOf(dataDir)).toEqual([])
  await rm(dataDir, { recursive: true, force: true })
})

const call = (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  name = '',
  body?: unknown,
  at = platform,
  token = user.token,
) => at.call(method, `/api/database/mongo${name && `/${name}`}`, { token, body })
const databaseOf = ({ body }: Awaited<ReturnType<typeof call>>) => body.data as unknown as Database

async function create(name: string): Promise<Database> {
  const answer = await call('POST', '', { name })
  expect(answer).toMatchObject({ status: 201 })
  return databaseOf(answer)
}

async function listed(name: string): Promise<Database | undefined> {
  const { status, body } = await call('GET')
  expect(status).toBe(200)
  return (body.data.databases as Database[]).find((database) => database.name === name)
}

/** The connection string as the console builds it, without options. */
function urlOf(
  { credentials: { username, password, host, port, database } }: Database,
  change: { password?: string; port?: number } = {},
): string {
  return `mongodb://${username}:${change.password ?? password}@${host}:${change.port ?? port}/${database}`
}

async function as<Result>(url: string, work: (client: MongoClient) => Promise<Result>): Promise<Result> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 3000 })
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'it worked',
    ({ code }: { code?: number }) => code,
  )
const trySignIn = (url: string) => codeOf(as(url, (client) => client.db().collection('any').findOne()))

testWithMongo(
  'decisions §8: the shown credentials open a database for reading and writing, and the listed sizes grow',
  async () => {
    const made = await create('plots')
    expect(made).toEqual({
      name: 'plots',
      size: 0,
      tables: 0,
      credentials: {
        username: 'plots',
        password: expect.stringMatching(/^[\w-]{24}$/),
        host: '127.0.0.1',
        port: expect.any(Number),
        database: 'plots',
      },
    })
    expect(await listed('plots')).toEqual(made)
    await as(urlOf(made), async (client) => {
      await client
        .db()
        .collection('plots')
        .insertMany(Array.from({ length: 500 }, (_, at) => ({ at, owner: 'x'.repeat(500) })))
      await client.db().collection('visits').createIndex({ at: 1 })
      await client
        .db()
        .collection('plots')
        .updateOne({ at: 7 }, { $set: { owner: 'Steve' } })
      await client.db().collection('plots').deleteOne({ at: 8 })
      expect(await client.db().collection('plots').countDocuments()).toBe(499)
      expect(await client.db().collection('plots').findOne({ at: 7 })).toMatchObject({ owner: 'Steve' })
    })
    const grown = await until(
      () => listed('plots'),
      (database) => (database?.size ?? 0) > 4096,
    )
    expect(grown).toMatchObject({ tables: 2, credentials: made.credentials })
  },
)

testWithMongo(
  'security 48: a user opens no other database, and a connection without a password is refused',
  async () => {
    const [mine, other] = [await create('mine'), await create('other')]
    await as(urlOf(other), (client) => client.db().collection('secrets').insertOne({ it: 'is theirs' }))
    // Signed in to its own database, the user sees nothing of the other one; signing in to the other one fails.
    const seen = await as(urlOf(mine), (client) => client.db('other').collection('secrets').find().toArray()).catch(
      () => [],
    )
    expect(seen).toEqual([])
    expect(
      await codeOf(
        as(urlOf(mine, { port: other.credentials.port }), (client) =>
          client.db('other').collection('secrets').findOne(),
        ),
      ),
    ).not.toBe('it worked')
    expect(
      await codeOf(
        as(
          urlOf({ ...other, credentials: { ...mine.credentials, port: other.credentials.port, database: 'other' } }),
          (client) => client.db().collection('secrets').findOne(),
        ),
      ),
    ).not.toBe('it worked')
    expect(
      await codeOf(
        as(`mongodb://127.0.0.1:${other.credentials.port}/other`, (client) =>
          client.db().collection('secrets').findOne(),
        ),
      ),
    ).not.toBe('it worked')
    expect(await as(urlOf(other), (client) => client.db().collection('secrets').countDocuments())).toBe(1)
  },
)

testWithMongo(
  '§7 PATCH: a reset sets a new password, refuses the old one, disables its connections and keeps the data',
  async () => {
    const before = await create('resettable')
    const open = new MongoClient(urlOf(before), { serverSelectionTimeoutMS: 1500 })
    await open.db().collection('kept').insertOne({ x: 1 })
    const answer = await call('PATCH', 'resettable')
    expect(answer.status).toBe(200)
    const after = databaseOf(answer)
    expect(after.credentials.password).not.toBe(before.credentials.password)
    expect({ ...after.credentials, password: '' }).toEqual({ ...before.credentials, password: '' })
    expect(await codeOf(open.db().collection('kept').findOne())).not.toBe('it worked')
    await open.close()
    expect(await trySignIn(urlOf(before))).toBe(18)
    expect(await as(urlOf(after), (client) => client.db().collection('kept').countDocuments())).toBe(1)
    expect((await listed('resettable'))!.credentials).toEqual(after.credentials)
  },
)

testWithMongo('the command line creates a database and prints credentials that open it', async () => {
  await platform.app.listen({ host: '127.0.0.1', port: 0 })
  const { ok, run } = commandLine(join(dataDir, 'nowhere'), {
    QUARTERDECK_SERVER: `http://127.0.0.1:${(platform.app.server.address() as AddressInfo).port}`,
    QUARTERDECK_KEY: await rightsOf(platform, user).createKey(user, { scopes: ['databases'] }),
  })
  const { credentials } = JSON.parse(await ok('db', 'create', 'mongo', 'by_cli', '--json')) as Database
  const made = { name: 'by_cli', size: 0, tables: 0, credentials }
  expect(await listed('by_cli')).toEqual(made)
  expect(await trySignIn(urlOf(made))).toBe('it worked')
  const table = await ok('db', 'create', 'mongo', 'by_hand')
  expect(table.split('\n').map((line) => line.split(/ +/)[0])).toEqual([
    'SETTING',
    'username',
    'password',
    'host',
    'port',
    'database',
    '',
  ])
  expect(await run('db', 'create', 'mongo', 'by_cli')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('by_cli'),
  })
})

testWithMongo('§7 DELETE: removes the database, its user and its data, and frees the name', async () => {
  const database = await create('gone')
  await as(urlOf(database), (client) => client.db().collection('data').insertOne({ x: 1 }))
  const open = new MongoClient(urlOf(database), { serverSelectionTimeoutMS: 1500 })
  await open.db().collection('data').findOne()
  expect((await call('DELETE', 'gone')).status).toBe(200)
  expect(await codeOf(open.db().collection('data').findOne())).not.toBe('it worked')
  await open.close()
  expect(await listed('gone')).toBeUndefined()
  expect(await trySignIn(urlOf(database))).not.toBe('it worked')
  expect((await call('DELETE', 'gone')).status).toBe(404)
  expect((await call('PATCH', 'gone')).status).toBe(404)
  const again = await create('gone')
  expect(await as(urlOf(again), (client) => client.db().collection('data').countDocuments())).toBe(0)
})

testWithMongo.each(['Upper_Case', '1', '_', 'test', 'system', 'x'.repeat(63), 'Y'.repeat(64)])(
  'security 45: %s is an ordinary name',
  async (name) => {
    const database = await create(name)
    await as(urlOf(database), (client) => client.db().collection('t').insertOne({ x: 1 }))
    expect(await listed(name)).toMatchObject({ name, tables: 1, credentials: database.credentials })
    expect((await call('DELETE', name)).status).toBe(200)
  },
)

testWithMongo.each(['admin', 'local', 'config', 'Admin'])(
  'the name %s of an internal database of the server is taken',
  async (name) => {
    expect(await call('POST', '', { name })).toMatchObject({ status: 409, body: { code: 'NAME_TAKEN' } })
    expect(await listed(name)).toBeUndefined()
  },
)

testWithMongo(
  'a second MongoDB database whose name differs only in case gets 409, and the first one stays',
  async () => {
    await create('Cased')
    expect(await call('POST', '', { name: 'cased' })).toMatchObject({
      status: 409,
      body: { code: 'NAME_TAKEN', message: expect.stringContaining('"Cased"') },
    })
    expect((await call('PATCH', 'cased')).status).toBe(404)
    expect((await call('DELETE', 'cased')).status).toBe(404)
    expect(await listed('Cased')).toBeDefined()
  },
)

testWithMongo('security 46: exactly one of 20 concurrent creates of one name succeeds', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => call('POST', '', { name: at % 2 ? 'race' : 'RACE' })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)])
  const winner = databaseOf(answers.find(({ status }) => status === 201)!)
  await as(urlOf(winner), (client) => client.db().collection('t').insertOne({ x: 1 }))
})

describe('security 47: a change interrupted by the end of the platform is finished by the next call:', () => {
  const setState = (name: string, change: { state: 'creating' | 'resetting' | 'deleting'; password?: string }) =>
    platform.db.updateTable('databases').set(change).where('name', '=', name).execute()

  testWithMongo.each(['creating', 'deleting'] as const)(
    'a database left in the state %s is removed, and its name is free',
    async (unfinished) => {
      const database = await create(`left_${unfinished}`)
      await as(urlOf(database), (client) => client.db().collection('t').insertOne({ x: 1 }))
      await setState(database.name, { state: unfinished })
      expect(await listed(database.name)).toBeUndefined()
      expect(await trySignIn(urlOf(database))).not.toBe('it worked')
      await setState((await create(database.name)).name, { state: unfinished })
      const again = await create(database.name)
      expect(await as(urlOf(again), (client) => client.db().collection('t').countDocuments())).toBe(0)
    },
  )

  testWithMongo('a reset that was recorded but did not reach the server is applied', async () => {
    const database = await create('left_resetting')
    const { id } = await platform.db
      .selectFrom('databases')
      .select('id')
      .where('name', '=', 'left_resetting')
      .executeTakeFirstOrThrow()
    const secrets = await openSecrets(platform.dataDir, platform.db)
    await setState('left_resetting', {
      state: 'resetting',
      password: secrets.seal('the-one-written-down', 'database password', id),
    })
    expect((await listed('left_resetting'))!.credentials.password).toBe('the-one-written-down')
    expect(await trySignIn(urlOf(database))).toBe(18)
    expect(await trySignIn(urlOf(database, { password: 'the-one-written-down' }))).toBe('it worked')
  })
})

testWithMongo('a server that dies is started again on the same port with the same passwords and data', async () => {
  const database = await create('mortal')
  await as(urlOf(database), (client) => client.db().collection('t').insertOne({ x: 1 }))
  const before = processesOf(dataDir)
  for (const pid of before) process.kill(pid, 'SIGKILL')
  await until(
    () => processesOf(dataDir),
    (pids) => pids.length === before.length && pids.every((pid) => !before.includes(pid)),
  )
  await until(
    () => as(urlOf(database), (client) => client.db().collection('t').countDocuments()).catch(() => 0),
    (count) => count === 1,
  )
  expect(await listed('mortal')).toMatchObject({ tables: 1, credentials: database.credentials })
})

testWithMongo(
  'the next start of the platform restores the databases, on the same ports where those are free',
  async () => {
    const database = await create('lasting')
    await as(urlOf(database), (client) => client.db().collection('t').insertOne({ x: 1 }))
    await mongo.close()
    expect(processesOf(dataDir)).toEqual([])
    const squatter = createServer().listen(database.credentials.port, '127.0.0.1')
    await until(() => squatter.listening)

    const next = await openMongo()
    const rows = (await platform.db.selectFrom('databases').selectAll().where('name', '=', 'lasting').execute()).map(
      (row) => ({ ...row, password: database.credentials.password }),
    )
    await next.open(rows)
    await until(
      () => next.stats(rows),
      (measures) => measures.size === 1,
    )
    const { port } = await next.address(rows[0]!, '')
    expect(port).not.toBe(database.credentials.port)
    expect(await as(urlOf(database, { port }), (client) => client.db().collection('t').countDocuments())).toBe(1)
    await next.close()
    squatter.close()

    const last = await openMongo()
    await last.open(rows)
    await until(
      () => last.stats(rows),
      (measures) => measures.size === 1,
    )
    expect((await last.address(rows[0]!, '')).port).toBe(port)
    await last.close()
    expect(processesOf(dataDir)).toEqual([])
  },
)

testWithMongo('processes left by a killed platform are ended before its successor starts its own', async () => {
  const [other, password] = [await mkdtemp(join(tmpdir(), 'quarterdeck-mongo-')), 'a-password-for-this-test']
  const settings = {
    url: undefined,
    dataDir: other,
    path: mongoPath ?? '',
    secrets: await openSecrets(dataDir, state.db),
    log,
  }
  const database = { id: '11111111-2222-4333-8444-555555555555', physical_name: 'left', username: 'left' }
  const first = createMongo(settings)
  await first.create(database, password)
  const left = processesOf(other)
  expect(left).toHaveLength(1)
  // The first one is not closed, as if the platform had been killed and its child processes had survived.
  const second = createMongo(settings)
  await second.open([{ ...database, password }])
  await until(
    () => processesOf(other),
    (pids) => pids.length >= 1 && !pids.includes(left[0]!),
  )
  await first.close()
  await second.close()
  await until(
    () => processesOf(other),
    (pids) => pids.length === 0,
  )
  await rm(other, { recursive: true, force: true })
})

testWithMongo('the data directory may have any name', async () => {
  const [other, password] = [await mkdtemp(join(tmpdir(), 'quarterdeck 100%41 #1?-')), 'a-password-for-this-test']
  const elsewhere = createMongo({
    url: undefined,
    dataDir: other,
    path: mongoPath ?? '',
    secrets: await openSecrets(dataDir, state.db),
    log,
  })
  const database = { id: '33333333-2222-4333-8444-555555555555', physical_name: 'anywhere', username: 'anywhere' }
  await elsewhere.create(database, password)
  const { port } = await elsewhere.address(database, password)
  await as(`mongodb://anywhere:${password}@127.0.0.1:${port}/anywhere`, (client) =>
    client.db().collection('t').insertOne({ x: 1 }),
  )
  expect(await elsewhere.stats([database])).toEqual(new Map([[database.id, { size: expect.any(Number), tables: 1 }]]))
  await elsewhere.close()
  await rm(other, { recursive: true, force: true })
})

testWithMongo('a listing that overlaps with a deletion does not restore the database', async () => {
  const database = { id: '22222222-2222-4333-8444-555555555555', physical_name: 'fading', username: 'fading' }
  await mongo.create(database, 'a-password-for-this-test')
  const removed = mongo.remove(database)
  const listing = async () => {
    await mongo.open([{ ...database, password: 'a-password-for-this-test' }])
    await mongo.stats([database])
  }
  await Promise.all([removed, listing(), listing()])
  await listing()
  expect(processesOf(database.id)).toEqual([])
  expect(await readdir(join(dataDir, 'mongo'), { recursive: true })).not.toContainEqual(
    expect.stringContaining(database.id),
  )
})

testWithMongo(
  'security 48: no password is in the log, in process arguments or readable in the data directory',
  async () => {
    const made = await create('quiet')
    const reset = databaseOf(await call('PATCH', 'quiet'))
    const arguments_ = (
      await Promise.all(processesOf(dataDir).map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')))
    ).join('')
    expect(arguments_).toContain(dataDir)
    for (const { credentials } of [made, reset]) {
      for (const text of [logged.join(''), platform.logged.join(''), arguments_])
        expect(text).not.toContain(credentials.password)
    }
    for (const entry of await readdir(join(dataDir, 'mongo'), { recursive: true })) {
      expect(await readFile(join(dataDir, 'mongo', entry), 'latin1').catch(() => '')).not.toContain(
        reset.credentials.password,
      )
    }
  },
)

const testFerret = isFerret ? testWithMongo : test.skip

testFerret(
  'FerretDB: changes that an owner makes to the users of their process are undone at its next start',
  async () => {
    const database = await create('meddled')
    await as(urlOf(database), async (client) => {
      await client.db('admin').collection<{ _id: string }>('system.users').deleteMany({})
      await client
        .db()
        .command({ createUser: 'backdoor', pwd: 'let me in', roles: [] })
        .catch(() => undefined)
    })
    const reset = databaseOf(await call('PATCH', 'meddled'))
    await as(urlOf(reset), (client) => client.db().collection('t').insertOne({ x: 1 }))
    expect(await trySignIn(`mongodb://backdoor:let%20me%20in@127.0.0.1:${reset.credentials.port}/meddled`)).toBe(18)
    expect((await call('DELETE', 'meddled')).status).toBe(200)
  },
)

describe('without a server:', () => {
  test('decisions §8: every call gets 503 and says how to get a server; the other section works', async () => {
    // An empty data directory: with existing databases it would ask for the program that made them.
    const empty = await mkdtemp(join(tmpdir(), 'quarterdeck-mongo-'))
    const without = await startPlatform({
      mongo: createMongo({
        url: undefined,
        dataDir: empty,
        path: '/nowhere',
        secrets: await openSecrets(dataDir, state.db),
        log: pino({ level: 'silent' }),
      }),
    })
    const { token } = await without.register('author')
    for (const [method, name, body] of [
      ['GET', '', undefined],
      ['POST', '', { name: 'plots' }],
    ] as const) {
      expect(await call(method, name, body, without, token)).toMatchObject({
        status: 503,
        body: { code: 'NOT_CONFIGURED', message: expect.stringMatching(/mongod|ferretdb/) },
      })
    }
    expect((await without.call('GET', '/api/database/sql', { token })).status).toBe(200)
    // A name whose creation failed is free.
    expect(await without.db.selectFrom('databases').selectAll().where('state', '=', 'ready').execute()).toEqual([])
    await without.close()
    await rm(empty, { recursive: true, force: true })
  })

  test('a program that cannot run is reported as 503 within 5 s, and no process is left', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-mongo-'))
    await mkdir(join(folder, 'bin'))
    await writeFile(join(folder, 'bin/ferretdb'), '#!/bin/sh\necho broken >&2; exit 3\n')
    await chmod(join(folder, 'bin/ferretdb'), 0o755)
    const broken = await startPlatform({
      mongo: createMongo({
        url: undefined,
        dataDir: folder,
        path: `${join(folder, 'bin')}`,
        secrets: await openSecrets(dataDir, state.db),
        log: pino({ level: 'silent' }),
      }),
    })
    const { token } = await broken.register('author')
    const took = await awakeMs(async () =>
      expect(await call('POST', '', { name: 'plots' }, broken, token)).toMatchObject({
        status: 503,
        body: { code: 'UNAVAILABLE', message: expect.stringContaining('ferretdb') },
      }),
    )
    expect(took).toBeLessThan(5000)
    await until(
      () => broken.db.selectFrom('databases').selectAll().execute(),
      ({ length }) => length === 0,
    )
    expect(await readdir(join(folder, 'mongo/ferretdb'))).toEqual([])
    await broken.close()
    await rm(folder, { recursive: true, force: true })
  })
})
