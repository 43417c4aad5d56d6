import { readdir, readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import type { Database } from '../../../src/contract/database'
import { openSecrets } from '../../../src/platform/state/secrets'
import { commandLine } from '../../cli/runCli'
import { rightsOf } from '../../support/platform/limitedUsers'
import { useMongoDatabases, urlOf, as, store, storedIn, codeOf, trySignIn } from '../../support/platform/mongoDatabases'
import { mongoPath } from '../../support/platform/mongoPath'
import { processesOf } from '../../support/platform/processesOf'
import { testWithMongo } from '../../support/platform/testWithMongo'
import { until } from '../../support/platform/until'

const { platform, user, dataDir, logged, call, create, listed } = useMongoDatabases()
/** The database in the response to a call. */
const databaseOf = ({ body }: Awaited<ReturnType<typeof call>>) => body.data as unknown as Database
const isFerret = mongoPath?.includes('ferretdb-') ?? false

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
  await platform().app.listen({ host: '127.0.0.1', port: 0 })
  const { ok, run } = commandLine(join(dataDir(), 'nowhere'), {
    QUARTERDECK_SERVER: `http://127.0.0.1:${(platform().app.server.address() as AddressInfo).port}`,
    QUARTERDECK_KEY: await rightsOf(platform(), user()).createKey(user(), { scopes: ['databases'] }),
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
  await store(urlOf(database))
  const open = new MongoClient(urlOf(database), { serverSelectionTimeoutMS: 1500 })
  await open.db().collection('t').findOne()
  expect((await call('DELETE', 'gone')).status).toBe(200)
  expect(await codeOf(open.db().collection('t').findOne())).not.toBe('it worked')
  await open.close()
  expect(await listed('gone')).toBeUndefined()
  expect(await trySignIn(urlOf(database))).not.toBe('it worked')
  expect((await call('DELETE', 'gone')).status).toBe(404)
  expect((await call('PATCH', 'gone')).status).toBe(404)
  const again = await create('gone')
  expect(await storedIn(urlOf(again))).toBe(0)
})

testWithMongo.each(['Upper_Case', '1', '_', 'test', 'system', 'x'.repeat(63), 'Y'.repeat(64)])(
  'security 45: %s is an ordinary name',
  async (name) => {
    const database = await create(name)
    await store(urlOf(database))
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
  await store(urlOf(winner))
})

describe('security 47: a change interrupted by the end of the platform is finished by the next call:', () => {
  const setState = (name: string, change: { state: 'creating' | 'resetting' | 'deleting'; password?: string }) =>
    platform().db.updateTable('databases').set(change).where('name', '=', name).execute()

  testWithMongo.each(['creating', 'deleting'] as const)(
    'a database left in the state %s is removed, and its name is free',
    async (unfinished) => {
      const database = await create(`left_${unfinished}`)
      await store(urlOf(database))
      await setState(database.name, { state: unfinished })
      expect(await listed(database.name)).toBeUndefined()
      expect(await trySignIn(urlOf(database))).not.toBe('it worked')
      await setState((await create(database.name)).name, { state: unfinished })
      const again = await create(database.name)
      expect(await storedIn(urlOf(again))).toBe(0)
    },
  )

  testWithMongo('a reset that was recorded but did not reach the server is applied', async () => {
    const database = await create('left_resetting')
    const { id } = await platform()
      .db.selectFrom('databases')
      .select('id')
      .where('name', '=', 'left_resetting')
      .executeTakeFirstOrThrow()
    const secrets = await openSecrets(platform().dataDir, platform().db)
    await setState('left_resetting', {
      state: 'resetting',
      password: secrets.seal('the-one-written-down', 'database password', id),
    })
    expect((await listed('left_resetting'))!.credentials.password).toBe('the-one-written-down')
    expect(await trySignIn(urlOf(database))).toBe(18)
    expect(await trySignIn(urlOf(database, { password: 'the-one-written-down' }))).toBe('it worked')
  })
})

testWithMongo(
  'security 48: no password is in the log, in process arguments or readable in the data directory',
  async () => {
    const made = await create('quiet')
    const reset = databaseOf(await call('PATCH', 'quiet'))
    const arguments_ = (
      await Promise.all(processesOf(dataDir()).map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')))
    ).join('')
    expect(arguments_).toContain(dataDir())
    for (const { credentials } of [made, reset]) {
      for (const text of [logged.join(''), platform().logged.join(''), arguments_])
        expect(text).not.toContain(credentials.password)
    }
    for (const entry of await readdir(join(dataDir(), 'mongo'), { recursive: true })) {
      expect(await readFile(join(dataDir(), 'mongo', entry), 'latin1').catch(() => '')).not.toContain(
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
    await store(urlOf(reset))
    expect(await trySignIn(`mongodb://backdoor:let%20me%20in@127.0.0.1:${reset.credentials.port}/meddled`)).toBe(18)
    expect((await call('DELETE', 'meddled')).status).toBe(200)
  },
)
