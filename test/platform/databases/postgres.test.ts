import { randomBytes, randomUUID } from 'node:crypto'
import { Client } from 'pg'
import pino from 'pino'
import type { Database } from '../../../src/contract/database'
import { physicalNameOf } from '../../../src/platform/databases/databaseNames'
import { identifyDatabase } from '../../../src/platform/state/db'
import { onServer } from '../../support/platform/freshState'
import { startPlatform, testPostgres, type Account, type TestPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

// Dropping a database waits for a checkpoint, which is slow on a busy disk.
jest.setTimeout(90_000)

let platform: TestPlatform
let user: Account
/** Makes names unique, because all tests of a run share the server. */
const unique = (text: string) => `${text}_${randomBytes(4).toString('hex')}`

beforeAll(async () => {
  platform = await startPlatform()
  user = await platform.register('plugin-author')
})
afterAll(() => platform.close())

const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', name = '', body?: unknown) =>
  platform.call(method, `/api/database/sql${name && `/${name}`}`, { token: user.token, body })
const databaseOf = ({ body }: Awaited<ReturnType<typeof call>>) => body.data as unknown as Database

async function create(name: string): Promise<Database> {
  const answer = await call('POST', '', { name })
  expect(answer.status).toBe(201)
  return databaseOf(answer)
}

async function listed(name: string): Promise<Database | undefined> {
  const { status, body } = await call('GET')
  expect(status).toBe(200)
  return (body.data.databases as Database[]).find((database) => database.name === name)
}

/** Connects as any client would, with the credentials that the console shows. */
async function connect(
  { credentials: { username, password, host, port, database } }: Database,
  change: { database?: string; password?: string } = {},
): Promise<Client> {
  const client = new Client({ user: username, password, host, port, database, ...change })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function as<Result>(database: Database, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = await connect(database)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'it worked',
    ({ code }: { code?: string }) => code,
  )

test('#48 an owner can create extensions but no untrusted language, and temporary files are limited', async () => {
  await as(await create(unique('languages')), async (client) => {
    for (const language of ['pltcl', 'plperl', 'hstore_plperl', 'jsonb_plperl']) {
      expect(await codeOf(client.query(`create extension ${language} cascade`))).toBe('0A000')
    }
    expect(await codeOf(client.query('create language pltcl'))).toBe('0A000')
    const { rows } = await client.query<{ name: string }>(
      "select name from pg_available_extensions where name ~ 'perl|tcl|python'",
    )
    expect(rows).toEqual([])
    for (const extension of ['hstore', 'pgcrypto', 'citext', 'unaccent'])
      await client.query(`create extension ${extension}`)
    expect(
      (await client.query<{ hash: string }>("select encode(digest('x', 'sha256'), 'hex') as hash")).rows[0]?.hash,
    ).toHaveLength(64)
    expect((await client.query('show temp_file_limit')).rows).toEqual([{ temp_file_limit: '1GB' }])
    expect(await codeOf(client.query('set temp_file_limit = -1'))).toBe('42501')
  })
})

test('a session is limited to one gigabyte of memory and stays usable after it reaches the limit', async () => {
  const made = await create(unique('memory'))
  await as(made, async (client) => {
    await client.query("set work_mem = '8GB'")
    // A single array cannot exceed one gigabyte.
    const arrays = ['a', 'b', 'c'].map((letter) => `cardinality(array_agg(repeat('${letter}', 1000000) || n))`)
    expect(await codeOf(client.query(`select ${arrays.join()} from generate_series(1, 600) n`))).toBe('53200')
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })
})

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

test('issue: each role has a connection limit and time-outs', async () => {
  const database = await create(unique('limits'))
  await as(database, async (client) => {
    expect((await client.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '5min' }])
    expect((await client.query('show idle_in_transaction_session_timeout')).rows).toEqual([
      { idle_in_transaction_session_timeout: '5min' },
    ])
  })
  const clients = await Promise.all(Array.from({ length: 20 }, () => connect(database)))
  expect(await codeOf(connect(database))).toBe('53300')
  // The listing works although the role has used all its connections.
  await clients[0]!.query('create table t (x int)')
  expect((await listed(database.name))!.tables).toBe(1)
  await Promise.all(clients.map((client) => client.end()))
})

describe('security 48: a role can open its own database only:', () => {
  let mine: Database
  let other: Database
  beforeAll(async () => {
    mine = await create(unique('mine'))
    other = await create(unique('other'))
  })

  test('neither other users’ databases, nor those of the server, nor the state of the platform', async () => {
    const state = new URL(platform.state.url).pathname.slice(1)
    for (const database of [other.name, 'postgres', 'template1', state]) {
      expect({ database, code: await codeOf(connect(mine, { database })) }).toEqual({ database, code: '42501' })
    }
    expect(await codeOf(connect(mine, { database: 'template0' }))).toBe('55000')
    await as(mine, () => connect(mine).then((client) => client.end()))
  })

  test.each([
    ["select pg_read_file('/etc/passwd')", '42501'],
    ["select pg_read_binary_file('postgresql.conf')", '42501'],
    ["select pg_ls_dir('.')", '42501'],
    ["select lo_import('/etc/passwd')", '42501'],
    ["select lo_export(lo_creat(-1), '/tmp/quarterdeck-escape')", '42501'],
    ["copy (select 1) to '/tmp/quarterdeck-escape'", '42501'],
    ["create table stolen (line text); copy stolen from '/etc/passwd'", '42501'],
    ["copy (select 1) to program 'id'", '42501'],
    ['create extension file_fdw', '42501'],
    ['create extension plperlu', '0A000'],
    ['create extension plpython3u', '0A000'],
    ['create extension dblink', '42501'],
    ['create extension postgres_fdw', '42501'],
    ["load '/tmp/evil.so'", '42501'],
    ["create function evil() returns int language c as '/tmp/evil', 'evil'", '42501'],
    ["create tablespace evil location '/tmp'", '42501'],
    ['select * from pg_authid', '42501'],
    ['create role another', '42501'],
    ['create database another', '42501'],
    ['alter role current_user superuser', '42501'],
    ['alter role current_user connection limit 1000', '42501'],
    ["alter system set listen_addresses = '*'", '42501'],
    ['set role postgres', '42501'],
    ['set session authorization postgres', '42501'],
    ['grant pg_read_server_files to current_user', '42501'],
    ['select pg_reload_conf()', '42501'],
  ])('%s', async (statement, code) => {
    expect(await as(mine, (client) => codeOf(client.query(statement)))).toBe(code)
  })

  test('it cannot reset, terminate or alter the other role', async () => {
    const role = `"${other.credentials.username}"`
    await as(mine, async (client) => {
      expect(await codeOf(client.query(`alter role ${role} password 'mine now'`))).toBe('42501')
      expect(await codeOf(client.query(`drop role ${role}`))).toBe('42501')
      expect(await codeOf(client.query(`comment on role ${role} is 'hijacked'`))).toBe('42501')
      expect(await codeOf(client.query(`comment on role "${mine.name}" is 'not of the console'`))).toBe('42501')
      expect(await codeOf(client.query(`drop database "${other.name}"`))).toBe('42501')
      expect(await codeOf(client.query(`alter database "${other.name}" owner to current_user`))).toBe('42501')
    })
    await as(other, (client) => client.query('select 1'))
  })

  test('objects in its own database do not run with the rights of the administrator who lists it', async () => {
    await as(mine, async (client) => {
      await client.query(`
        create table caught (who name);
        create schema trap;
        create function trap.catch(oid, oid) returns boolean language plpgsql as $$ begin insert into public.caught values (current_user); return true; end $$;
        create operator trap.= (leftarg = oid, rightarg = oid, function = trap.catch);
        grant all on schema trap to public; grant all on public.caught to public;
        alter database "${mine.name}" set search_path = trap, pg_catalog, public;
        alter role current_user set search_path = trap, pg_catalog, public;
      `)
    })
    expect((await listed(mine.name))!.tables).toBe(1)
    await as(mine, async (client) => {
      await client.query('set search_path = public')
      expect((await client.query('select * from caught')).rows).toEqual([])
    })
  })
})

test('§7 PATCH: a reset sets a new password, refuses the old one and ends its connections', async () => {
  const before = await create(unique('reset'))
  const open = await connect(before)
  const ended = new Promise((resolve) => open.once('end', resolve))
  const answer = await call('PATCH', before.name)
  expect(answer.status).toBe(200)
  const after = databaseOf(answer)
  expect(after).toMatchObject({
    name: before.name,
    credentials: { username: before.credentials.username, database: before.credentials.database },
  })
  expect(after.credentials.password).not.toBe(before.credentials.password)
  await ended
  expect(await codeOf(connect(before))).toBe('28P01')
  await as(after, (client) => client.query('select 1'))
  expect((await listed(before.name))!.credentials).toEqual(after.credentials)
})

test('a session that locks its own role or keeps setting its password blocks neither a reset nor a delete', async () => {
  const name = unique('mine')
  const made = await create(name)
  const { username, database } = made.credentials
  const holder = await connect(made)
  await holder.query('begin')
  await holder.query(`alter user "${username}" password 'held'`)
  const fresh = await call('PATCH', name)
  expect(fresh.status).toBe(200)

  let current = databaseOf(fresh)
  let isOver = false
  const writers = Array.from({ length: 6 }, async () => {
    while (!isOver) {
      const client = await connect(current).catch(() => undefined)
      try {
        while (client && !isOver) await client.query(`alter user "${username}" password 'mine'`)
      } catch {
        // Its session has been ended.
      }
      await client?.end().catch(() => undefined)
    }
  })
  for (let tries = 0; tries < 3; tries++) {
    const answer = await call('PATCH', name)
    expect(answer.status).toBe(200)
    current = databaseOf(answer)
  }
  isOver = true
  await Promise.all(writers)
  const last = await call('PATCH', name)
  expect(last.status).toBe(200)
  await as(databaseOf(last), (client) => client.query('select 1'))
  expect(await codeOf(connect(made, { password: 'mine', database }))).toBe('28P01')

  const other = await connect(databaseOf(last))
  await other.query('begin')
  await other.query(`alter user "${username}" password 'held'`)
  expect((await call('DELETE', name)).status).toBe(200)
})

test('§7 DELETE: ends open connections, removes the database and its role, and frees the name', async () => {
  const database = await create(unique('gone'))
  const open = await connect(database)
  const ended = new Promise((resolve) => open.once('end', resolve))
  expect((await call('DELETE', database.name)).status).toBe(200)
  await ended
  expect(await listed(database.name)).toBeUndefined()
  expect(await codeOf(connect(database))).toBe('28P01')
  await onServer(async (admin) => {
    expect((await admin.query('select datname from pg_database where datname = $1', [database.name])).rows).toEqual([])
    expect((await admin.query('select rolname from pg_roles where rolname = $1', [database.name])).rows).toEqual([])
  })
  expect((await call('DELETE', database.name)).status).toBe(404)
  const again = await create(database.name)
  expect(again.credentials.password).not.toBe(database.credentials.password)
})

test('a role with rights in other users’ databases can be deleted', async () => {
  const [giver, taker] = [await create(unique('giver')), await create(unique('taker'))]
  await as(giver, async (client) => {
    await client.query(
      `create table shared (x int); grant select on shared to "${taker.name}"; grant connect on database "${giver.name}" to "${taker.name}"`,
    )
    await client.query('insert into shared values (1)')
  })
  expect((await call('DELETE', taker.name)).status).toBe(200)
  expect(await as(giver, async (client) => (await client.query('select * from shared')).rows)).toEqual([{ x: 1 }])
})

test.each([
  ['whose sessions are read-only', 'alter database $ set default_transaction_read_only = on'],
  ['whose sessions switch to its own role', 'alter database $ set role = $'],
  ['whose sessions load a missing library', "alter database $ set local_preload_libraries = 'nothing'"],
  ['whose statements time out at once', 'alter database $ set statement_timeout = 1'],
])('#48 a role with rights in a database %s can be deleted, and its name is free again', async (_case, sabotage) => {
  const [giver, taker] = [await create(unique('giver')), await create(unique('taker'))]
  await as(giver, async (client) => {
    await client.query(`create table shared (x int); grant select on shared to "${taker.name}"`)
    await client.query(sabotage.replaceAll('$', `"${giver.name}"`))
  })
  expect((await call('DELETE', taker.name)).status).toBe(200)
  await create(taker.name)
})

test('a role whose only foreign right is CONNECT can be deleted', async () => {
  const [giver, taker] = [await create(unique('giver')), await create(unique('taker'))]
  await as(giver, (client) => client.query(`grant connect on database "${giver.name}" to "${taker.name}"`))
  expect((await call('DELETE', taker.name)).status).toBe(200)
})

test('a role with rights in a database that allows no connections can be deleted without changing that setting', async () => {
  const [giver, taker, third] = [
    await create(unique('giver')),
    await create(unique('taker')),
    await create(unique('third')),
  ]
  await as(giver, (client) => client.query(`create table shared (x int); grant select on shared to "${taker.name}"`))
  await as(third, (client) => client.query(`grant connect on database "${third.name}" to "${giver.name}"`))
  const elsewhere = await connect(giver, { database: third.name })
  await elsewhere.query(`alter database "${giver.name}" allow_connections false`)
  await elsewhere.end()
  expect((await call('DELETE', taker.name)).status).toBe(200)
  expect(await codeOf(connect(giver))).toBe('55000')
})

test('a database that its owner turned into a template can be deleted', async () => {
  const database = await create(unique('template'))
  await as(database, (client) => client.query(`alter database "${database.name}" is_template true`))
  expect((await call('DELETE', database.name)).status).toBe(200)
})

test('security: a session that waits for its client during a statement does not block the deletion of another database', async () => {
  const [other, database] = [await create(unique('other')), await create(unique('gone'))]
  const waiting = await connect(other)
  const idle = await connect(other)
  await waiting.query('set statement_timeout = 0; create table lines (line text)')
  // The pg client would end the copy at once.
  Object.assign((waiting as Client & { connection: object }).connection, { sendCopyFail: () => undefined })
  const copied = codeOf(waiting.query('copy lines from stdin'))
  expect((await call('DELETE', database.name)).status).toBe(200)
  expect(await copied).toBe('57P01')
  expect((await idle.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await idle.end()
})

test('#48 a lock that a user holds in one database does not block the deletion of another database', async () => {
  const [giver, taker] = [await create(unique('giver')), await create(unique('taker'))]
  await as(giver, (client) => client.query(`create table shared (x int); grant select on shared to "${taker.name}"`))
  const holder = await connect(giver)
  await holder.query('begin; lock table shared')
  expect((await call('DELETE', taker.name)).status).toBe(200)
  await holder.end().catch(() => undefined)
})

describe('invalid input:', () => {
  test.each([
    ['a quote', 'a"b'],
    ['an injection', 'x"; DROP ROLE postgres; --'],
    ['a dash', 'a-b'],
    ['a space', 'a b'],
    ['65 characters', 'a'.repeat(65)],
    ['nothing', ''],
    ['a letter beyond ASCII', 'größe'],
    ['a newline at the end', 'plots\n'],
    ['NUL', 'a\0b'],
    ['a number', 5],
    ['an object', { $ne: null }],
  ])('§5 %s as name gets 400', async (_case, name) => {
    expect(await call('POST', '', { name })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', field: 'name' },
    })
    if (typeof name === 'string' && name !== '') {
      expect((await call('DELETE', encodeURIComponent(name))).status).toBe(400)
      expect((await call('PATCH', encodeURIComponent(name))).status).toBe(400)
    }
  })

  test('§5 the message for characters that are not allowed is the product’s own', async () => {
    expect((await call('POST', '', { name: 'a-b' })).body.message).toBe(
      'name: Database name can only contain letters, numbers, dashes, and underscores',
    )
  })

  test('security 15: a reset or delete of an unknown name gets 404, an unknown type 400', async () => {
    expect(await call('PATCH', 'nothing_here')).toMatchObject({
      status: 404,
      body: { message: 'There is no database named "nothing_here".' },
    })
    expect(await call('DELETE', 'nothing_here')).toMatchObject({ status: 404 })
    expect((await platform.call('GET', '/api/database/oracle', { token: user.token })).status).toBe(400)
  })

  test.each([
    'SELECT',
    'user',
    'Upper_Case',
    'public',
    'pg_monitor',
    '1',
    '_',
    'current_user',
    'x'.repeat(63),
    'Y'.repeat(64),
  ])('security 45: %s is an ordinary name', async (name) => {
    const database = await create(name)
    expect(database.name).toBe(name)
    await as(database, async (client) => {
      expect((await client.query('select current_database() as name')).rows).toEqual([
        { name: database.credentials.database },
      ])
      await client.query('create table t (x int)')
    })
    expect(await listed(name)).toMatchObject({ tables: 1, credentials: database.credentials })
    const reset = databaseOf(await call('PATCH', name))
    expect(await codeOf(connect(database))).toBe('28P01')
    await as(reset, (client) => client.query('select * from t'))
    expect((await call('DELETE', name)).status).toBe(200)
  })

  test('a name of 64 characters whose shortened name is taken is refused with a text that names the shortened one', async () => {
    const long = 'z'.repeat(64)
    const shortened = physicalNameOf(long)
    await create(shortened)
    const { status, body } = await call('POST', '', { name: long })
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'NAME_TAKEN' })
    expect(body.message).toContain(`the name "${shortened}" that it would use instead exists already`)
    await call('DELETE', shortened)
  })

  test('decisions §8: case is kept, and names that differ only in case are two databases', async () => {
    const name = unique('case')
    await create(name)
    await create(name.toUpperCase())
    expect((await listed(name))!.credentials.database).toBe(name)
    expect((await listed(name.toUpperCase()))!.credentials.database).toBe(name.toUpperCase())
  })
})

describe('what was created outside the console is never listed or changed:', () => {
  test.each(['postgres', 'template0', 'template1'])('the name %s is taken', async (name) => {
    expect(await call('POST', '', { name })).toMatchObject({ status: 409, body: { code: 'NAME_TAKEN' } })
    expect(await listed(name)).toBeUndefined()
    expect((await call('DELETE', name)).status).toBe(404)
  })

  test('a database or role of another owner keeps its name, its password and its data', async () => {
    const [database, role] = [unique('foreign'), unique('somebody')]
    await onServer(async (admin) => {
      await admin.query(`create database ${database}`)
      await admin.query(`create role ${role} login password 'their own'`)
    })
    for (const name of [database, role]) {
      expect(await call('POST', '', { name })).toMatchObject({
        status: 409,
        body: { code: 'NAME_TAKEN', message: expect.stringContaining('not created here') },
      })
      expect((await call('PATCH', name)).status).toBe(404)
      expect((await call('DELETE', name)).status).toBe(404)
    }
    const url = new URL(process.env.TEST_POSTGRES_URL!)
    const client = new Client({
      host: '127.0.0.1',
      port: Number(url.port),
      user: role,
      password: 'their own',
      database,
    })
    await client.connect()
    await client.end()
    await onServer(async (admin) => {
      expect((await admin.query('select 1 from pg_database where datname = $1', [role])).rowCount).toBe(0)
      await admin.query(`drop database ${database}`)
      await admin.query(`drop role ${role}`)
    })
  })

  test('a role that replaced ours on the server gets no new password and is not dropped', async () => {
    const database = await create(unique('replaced'))
    await onServer(async (admin) => {
      await admin.query(`drop database "${database.name}" with (force)`)
      await admin.query(`drop role "${database.name}"`)
      await admin.query(`create role "${database.name}" login password 'their own'`)
    })
    expect(await call('PATCH', database.name)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    expect(await listed(database.name)).toEqual({ name: database.name, credentials: database.credentials })
    expect((await call('DELETE', database.name)).status).toBe(200)
    await onServer(async (admin) => {
      expect((await admin.query('select 1 from pg_roles where rolname = $1', [database.name])).rowCount).toBe(1)
      await admin.query(`drop role "${database.name}"`)
    })
  })

  test('a database that an administrator reassigned to another role is not dropped', async () => {
    const database = await create(unique('given'))
    await onServer((admin) => admin.query(`alter database "${database.name}" owner to postgres`))
    expect(await call('DELETE', database.name)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    expect(await listed(database.name)).toBeDefined()
    await onServer((admin) => admin.query(`alter database "${database.name}" owner to "${database.name}"`))
    expect((await call('DELETE', database.name)).status).toBe(200)
  })
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
  const log = platform.logged.join('')
  const rows = JSON.stringify(await platform.db.selectFrom('databases').selectAll().execute())
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
  await platform.db.updateTable('databases').set({ password: 'AAAA' }).where('name', '=', database.name).execute()
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
  const { token } = await slow.register('author')
  const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', name = '', body?: unknown) =>
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
  changes.push(...others.map((name) => ask('POST', '', { name })))
  // The number of concurrent changes is limited; the others are queued.
  await begun(4)
  const { status, body } = await ask('GET')
  expect([status, (body.data.databases as Database[]).map(({ name }) => name)]).toEqual([200, [first]])
  expect(slow.logged.join('')).not.toContain('failed to complete')
  go()
  expect((await Promise.all(changes)).map((answer) => answer.status)).toEqual([409, 200, 201, 201, 201, 201])
  for (const name of others) expect((await ask('DELETE', name)).status).toBe(200)
  await slow.close()
})

test('an administrator without superuser rights needs only CREATEDB and CREATEROLE', async () => {
  const role = unique('admin')
  await onServer(async (admin) => {
    await admin.query(`create role ${role} login createdb createrole password 'hush'`)
    await admin.query(`create database ${role} owner ${role}`)
  })
  const url = new URL(process.env.TEST_POSTGRES_URL!)
  Object.assign(url, { username: role, password: 'hush', pathname: `/${role}` })
  const modest = await startPlatform({ sql: testPostgres({ url: url.href }) })
  const { token } = await modest.register('author')
  const name = unique('modest')
  const made = await modest.call('POST', '/api/database/sql', { token, body: { name } })
  expect(made.status).toBe(201)
  const database = made.body.data as unknown as Database
  const open = await connect(database)
  await open.query('create table t (x int)')
  expect((await modest.call('GET', '/api/database/sql', { token })).body.data).toMatchObject({
    databases: [{ name, tables: 1 }],
  })
  expect((await modest.call('PATCH', `/api/database/sql/${name}`, { token })).status).toBe(200)
  expect(await codeOf(connect(database))).toBe('28P01')
  expect((await modest.call('DELETE', `/api/database/sql/${name}`, { token })).status).toBe(200)
  await modest.close()
  await onServer(async (admin) => {
    expect((await admin.query('select 1 from pg_roles where rolname = $1', [name])).rowCount).toBe(0)
    await admin.query(`drop database ${role}`)
    await admin.query(`drop role ${role}`)
  })
})

describe('the platform’s state on the server of users’ databases, open to PUBLIC by default:', () => {
  const [name, role, other] = [unique('state'), unique('platform'), unique('nobody')]
  const urlFor = (user: string, database = name) =>
    Object.assign(new URL(process.env.TEST_POSTGRES_URL!), {
      username: user,
      password: 'hush',
      pathname: `/${database}`,
    }).href
  const open = async <Result>(user: string, work: (client: Client) => Promise<Result>) => {
    const client = new Client({ connectionString: urlFor(user) })
    await client.connect()
    return work(client).finally(() => client.end())
  }
  const lines: string[] = []

  beforeAll(() =>
    onServer(async (admin) => {
      await admin.query(`create database ${name}`)
      for (const each of [role, other])
        await admin.query(`create role ${each} login createdb createrole password 'hush'`)
      await admin.query(`create database ${other} owner ${other}`)
    }),
  )
  afterAll(() =>
    onServer(async (admin) => {
      for (const each of [name, other]) await admin.query(`drop database ${each} with (force)`)
      for (const each of [role, other]) await admin.query(`drop role ${each}`)
    }),
  )

  test('is reported in the log when the administrator is not allowed to close it', async () => {
    const server = testPostgres({
      url: urlFor(other, other),
      state: await open(role, identifyDatabase),
      log: pino({ level: 'warn' }, { write: (line) => void lines.push(line) }),
    })
    await server.stats([])
    await server.close()
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        databases: expect.arrayContaining([name]),
        msg: expect.stringContaining('revoke CONNECT'),
      }),
    ])
    await open(other, async () => undefined)
  })

  test('security 48: is closed to all other roles, however its URL is written, and stays open to the platform', async () => {
    const server = testPostgres({ state: await open(role, identifyDatabase) })
    await server.stats([])
    await server.close()
    expect(await codeOf(open(other, async () => undefined))).toBe('42501')
    await open(role, async () => undefined)
  })
})

test('the activity log records who created, reset and deleted which database, without passwords', async () => {
  const name = unique('noted')
  await create(name)
  await call('PATCH', name)
  await call('DELETE', name)
  await call('DELETE', name)
  const entries = await until(
    () => platform.db.selectFrom('activity').selectAll().where('subject', '=', name).orderBy('id').execute(),
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
