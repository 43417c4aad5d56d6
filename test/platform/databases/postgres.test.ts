import { randomUUID } from 'node:crypto'
import type { Database } from '../../../src/contract/database'
import { onServer } from '../../support/platform/freshState'
import { useSqlDatabases, unique, databaseOf, as } from '../../support/platform/sqlDatabases'
import { startPlatform, testPostgres, useAccount } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, call, create, listed } = useSqlDatabases()
const bob = useAccount(platform, 'bob')

test('decisions §8: the shown credentials open a database for reading and writing, and the listed size and tables grow', async () => {
  const name = unique('plots')
  const made = await create(name)
  expect(made).toEqual({
    name,
    size: expect.any(Number),
    tables: 0,
    credentials: {
      username: name,
      password: expect.stringMatching(/^[\w-]{24}$/),
      host: '127.0.0.1',
      port: Number(new URL(process.env.TEST_POSTGRES_URL!).port),
      database: name,
    },
  })
  expect(await listed(name)).toMatchObject({ tables: 0, credentials: made.credentials })
  await as(made, async (client) => {
    await client.query(
      'create table plots (id serial primary key, owner text not null); create schema stats; create table stats.visits (at timestamptz)',
    )
    await client.query('create view owners as select owner from plots')
    await client.query("insert into plots (owner) select repeat('x', 500) from generate_series(1, 2000)")
    expect((await client.query('select count(*)::int as count from plots')).rows).toEqual([{ count: 2000 }])
  })
  const grown = await listed(name)
  expect(grown).toMatchObject({ tables: 2, credentials: made.credentials })
  expect(grown!.size).toBeGreaterThan(made.size! + 500_000)
})

test('an owner can use what plugins need: extensions, schemas, triggers and the table of a migration tool', async () => {
  const database = await create(unique('plugin'))
  await as(database, async (client) => {
    await client.query(
      'create extension pgcrypto; create extension citext; create extension "uuid-ossp"; create extension hstore; create extension pg_trgm',
    )
    await client.query(
      "create table flyway_schema_history (installed_rank int primary key); create type mood as enum ('calm'); create temporary table scratch (x int)",
    )
    await client.query(
      "create function touch() returns trigger language plpgsql as 'begin return new; end'; create trigger touched before insert on flyway_schema_history for each row execute function touch()",
    )
    await client.query('insert into flyway_schema_history values (1)')
    expect((await client.query('select gen_random_uuid()')).rowCount).toBe(1)
  })
})

test('security 157: of hundreds of changes of a user, few are done at a time, and those of others overtake them', async () => {
  const names = [unique('flood'), unique('flood'), unique('flood'), unique('flood')]
  const other = unique('other')
  for (const name of [...names, other]) await create(name)
  let answered = 0
  const flood = Array.from({ length: 200 }, async (_change, index) => {
    const { status } = await call('PATCH', names[index % names.length])
    answered += 1
    return status
  })
  await until(() => answered > 0)
  const before = answered
  const { status } = await platform().call('PATCH', `/api/database/sql/${other}`, { token: bob().token })
  expect(status).toBe(200)
  expect(answered - before).toBeLessThan(50)
  await Promise.all(flood)
})

test('security 46: exactly one of 20 concurrent creates of one name succeeds', async () => {
  const name = unique('race')
  const answers = await Promise.all(Array.from({ length: 20 }, () => call('POST', '', { name })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)])
  const winner = databaseOf(answers.find(({ status }) => status === 201)!)
  await as(winner, (client) => client.query('select 1'))
})

test('10 databases with different names can be created concurrently', async () => {
  const names = Array.from({ length: 10 }, (_, at) => unique(`many_${at}`))
  const answers = await Promise.all(names.map((name) => call('POST', '', { name })))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201))
  expect((await Promise.all(names.map((name) => call('DELETE', name)))).map(({ status }) => status)).toEqual(
    Array(10).fill(200),
  )
})

test('concurrent create, reset and delete of one name leave it complete or absent', async () => {
  const name = unique('mixed')
  const answers = await Promise.all([
    call('POST', '', { name }),
    call('PATCH', name),
    call('DELETE', name),
    call('POST', '', { name }),
    call('PATCH', name),
    call('DELETE', name),
  ])
  for (const { status } of answers) expect([200, 201, 404, 409]).toContain(status)
  const left = await listed(name)
  if (left) await as(left, (client) => client.query('select 1'))
})

test('security 48: no password is in the log, and passwords are encrypted in the state', async () => {
  const made = await create(unique('quiet'))
  const reset = databaseOf(await call('PATCH', made.name))
  const log = platform().logged.join('')
  const rows = JSON.stringify(await platform().db.selectFrom('databases').selectAll().execute())
  for (const { credentials } of [made, reset]) {
    expect(log).not.toContain(credentials.password)
    expect(rows).not.toContain(credentials.password)
  }
  await onServer(async (admin) => {
    const { rows: roles } = await admin.query<{ rolpassword: string }>(
      'select rolpassword from pg_authid where rolname = $1',
      [made.name],
    )
    expect(roles[0]!.rolpassword).toMatch(/^SCRAM-SHA-256\$4096:/)
  })
})

test('a password that cannot be decrypted is omitted from the listing, and a reset repairs it', async () => {
  const database = await create(unique('damaged'))
  await platform().db.updateTable('databases').set({ password: 'AAAA' }).where('name', '=', database.name).execute()
  expect((await listed(database.name))!.credentials).toEqual({ ...database.credentials, password: '' })
  const reset = databaseOf(await call('PATCH', database.name))
  await as(reset, (client) => client.query('select 1'))
})

test('the listing omits measurements that are not available, rather than showing zero', async () => {
  const database = await create(unique('unmeasured'))
  await as(database, (client) => client.query('create table t (x int)'))
  await onServer((admin) => admin.query(`alter database "${database.name}" allow_connections false`))
  expect(await listed(database.name)).toEqual({
    name: database.name,
    size: expect.any(Number),
    credentials: database.credentials,
  })
  await onServer((admin) => admin.query(`alter database "${database.name}" allow_connections true`))
  expect(await listed(database.name)).toMatchObject({ tables: 1 })
})

test('the listing neither waits for changes in progress nor treats them as interrupted', async () => {
  let go = (): void => undefined
  const gate = new Promise<void>((resolve) => (go = resolve))
  const real = testPostgres()
  const slow = await startPlatform({
    sql: {
      ...real,
      create: async (...parts) => gate.then(() => real.create(...parts)),
      setPassword: async (...parts) => gate.then(() => real.setPassword(...parts)),
      remove: async (...parts) => gate.then(() => real.remove(...parts)),
    },
  })
  const author = await slow.register('author')
  const another = await slow.register('another')
  const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', name = '', body?: unknown, { token } = author) =>
    slow.call(method, `/api/database/sql${name && `/${name}`}`, { token, body })
  const [first, second, ...others] = ['a', 'b', 'c', 'd', 'e', 'f'].map((each) => unique(`slow_${each}`)) as [
    string,
    string,
    ...string[],
  ]
  const ready = { username: '', physical_name: '', password: '', type: 'sql' as const, state: 'ready' as const }
  for (const name of [first, second])
    await slow.db
      .insertInto('databases')
      .values({ ...ready, id: randomUUID(), name, username: name, physical_name: name })
      .execute()
  const begun = (count: number) =>
    until(
      () => slow.db.selectFrom('databases').select('name').where('state', '!=', 'ready').execute(),
      ({ length }) => length === count,
    )
  const changes = [ask('PATCH', first), ask('DELETE', second)]
  await begun(2)
  changes.push(...others.map((name) => ask('POST', '', { name }, another)))
  // The number of concurrent changes is limited; the others are queued.
  await begun(3)
  const { status, body } = await ask('GET')
  expect([status, (body.data.databases as Database[]).map(({ name }) => name)]).toEqual([200, [first]])
  expect(slow.logged.join('')).not.toContain('failed to complete')
  go()
  expect((await Promise.all(changes)).map((answer) => answer.status)).toEqual([409, 200, 201, 201, 201, 201])
  for (const name of others) expect((await ask('DELETE', name)).status).toBe(200)
  await slow.close()
})

test('the activity log records who created, reset and deleted which database, without passwords', async () => {
  const name = unique('noted')
  await create(name)
  await call('PATCH', name)
  await call('DELETE', name)
  await call('DELETE', name)
  const entries = await until(
    () => platform().db.selectFrom('activity').selectAll().where('subject', '=', name).orderBy('id').execute(),
    ({ length }) => length === 4,
  )
  expect(entries.map(({ kind, action, username, succeeded }) => [kind, action, username, succeeded])).toEqual([
    ['database', 'created SQL database', 'plugin-author', true],
    ['database', 'reset password of SQL database', 'plugin-author', true],
    ['database', 'deleted SQL database', 'plugin-author', true],
    ['database', 'deleted SQL database', 'plugin-author', false],
  ])
})

test('at most 500 databases can exist, and a deletion makes room', async () => {
  const full = await startPlatform()
  try {
    const { token } = await full.register('ann')
    const rows = Array.from({ length: 500 }, (_, index) => ({
      id: randomUUID(),
      type: 'sql' as const,
      name: `full${index}`,
      physical_name: unique('full'),
      username: unique('full'),
      password: '',
      state: 'deleting' as const,
    }))
    await full.db.insertInto('databases').values(rows).execute()
    const add = () => full.call('POST', '/api/database/sql', { token, body: { name: unique('one_more') } })
    expect(await add()).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('500 databases') as unknown },
    })
    await full.db.deleteFrom('databases').where('id', '=', rows[0]!.id).execute()
    // Concurrent creations are counted too.
    const answers = await Promise.all([add(), add(), add()])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  } finally {
    await full.close()
  }
})
