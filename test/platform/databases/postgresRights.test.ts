import type { Client } from 'pg'
import pino from 'pino'
import type { Database } from '../../../src/contract/database'
import { identifyDatabase } from '../../../src/platform/state/db'
import { withClient } from '../../support/platform/postgresClients'
import { onServer } from '../../support/platform/freshState'
import { useSqlDatabases, unique, connect, as, codeOf } from '../../support/platform/sqlDatabases'
import { startPlatform, testPostgres } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, create, listed } = useSqlDatabases()

test('an owner can create extensions but no untrusted language, and temporary files are limited', async () => {
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

test('each role has a connection limit and time-outs', async () => {
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

test('security 141: owners who block every new connection to their databases do not delay the list', async () => {
  const made: Database[] = []
  for (let count = 0; count < 20; count++) made.push(await create(unique('blocked')))
  const sessions = await Promise.all(made.flatMap((database) => [connect(database), connect(database)]))
  const oldest = sessions.filter((_, at) => at % 2 === 0)
  await Promise.all(
    oldest.map((client) => client.query("begin; select 1 from pg_class where oid = 'pg_class'::regclass")),
  )
  // As in the product (`setUpSessions`): the limit of the tests' server would end the wait after five seconds.
  await Promise.all(sessions.map((client) => client.query('set lock_timeout = 0')))
  // Waits for the transaction; new connections, which need the same index, wait for both.
  const reindexing = made.map((database, at) =>
    codeOf(sessions[2 * at + 1]!.query(`reindex system ${database.credentials.database}`)),
  )
  await until(async () => {
    let waiting = 0
    await onServer(async (client) => {
      const { rowCount } = await client.query(
        "select from pg_stat_activity where wait_event_type = 'Lock' and query like 'reindex system blocked%'",
      )
      waiting = rowCount ?? 0
    })
    return waiting === made.length
  })
  await expect(connect(made[0]!, { timeoutMs: 1000 })).rejects.toThrow('timeout')
  // Counted one after another, eight at a time, the tables would delay it by 12 s.
  const begin = performance.now()
  const found = await listed(made.at(-1)!.name)
  expect(performance.now() - begin).toBeLessThan(10_000)
  expect(found).toMatchObject({ size: expect.any(Number), credentials: made.at(-1)!.credentials })
  expect(found).not.toHaveProperty('tables')
  await Promise.all(sessions.map((client) => client.end()))
  await Promise.all(reindexing)
})

describe('security 48: a role can open its own database only:', () => {
  let mine: Database
  let other: Database
  beforeAll(async () => {
    mine = await create(unique('mine'))
    other = await create(unique('other'))
  })

  test('neither other users’ databases, nor those of the server, nor the state of the platform', async () => {
    const state = new URL(platform().state.url).pathname.slice(1)
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
  ])('the statement is refused: %s', async (statement, code) => {
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
  const open = <Result>(user: string, work: (client: Client) => Promise<Result>) => withClient(urlFor(user), work)
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
