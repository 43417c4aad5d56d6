import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createSqlServer } from '../../../src/platform/databases/sqlServer'
import { startEmbeddedPostgres } from '../../../src/platform/postgres/embeddedPostgres'
import { createUsersPostgres } from '../../../src/platform/postgres/usersPostgres'
import { insertActivity, listActivity } from '../../../src/platform/state/accounts/activity'
import { openStateDatabase } from '../../../src/platform/state/db'
import { withClient } from '../../support/platform/postgresClients'
import { keepFact, keptFacts, startStateServer, withState } from '../../support/platform/stateServer'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

jest.setTimeout(120_000)

const log = pino({ level: 'silent' })
const directory = useTemporaryDirectory()

const query = async <Row extends object>(url: string, text: string) =>
  withClient(url, async (client) => (await client.query<Row>(text)).rows)

function entry(action: string) {
  return {
    entry: randomUUID(),
    at: new Date(),
    username: 'author',
    kind: 'user' as const,
    action,
    subject: 'a "quoted"\ttext\\n of two\nlines',
    address: '127.0.0.1',
    succeeded: true,
  }
}

/** A data directory of an earlier version: the state and a user's database in one server. */
async function earlierVersion(name: string): Promise<string> {
  const dataDir = join(directory(), name)
  mkdirSync(dataDir, { mode: 0o711 })
  const postgres = await startEmbeddedPostgres(dataDir, 'databases', log)
  await query(postgres.adminUrl, "create role quarterdeck login password 'of-the-state'")
  await query(postgres.adminUrl, 'create database quarterdeck owner quarterdeck')
  await query(postgres.adminUrl, 'create database plots')
  const url = new URL(postgres.adminUrl)
  url.pathname = '/quarterdeck'
  url.username = 'quarterdeck'
  url.password = 'of-the-state'
  const state = await openStateDatabase(url.href)
  await keepFact(state.db)
  await insertActivity(state.db, [entry('first'), entry('second')])
  await state.close()
  await postgres.stop()
  return dataDir
}

test('the state of an earlier version moves once to its own server, and users’ databases stay', async () => {
  const dataDir = await earlierVersion('earlier')
  const users = createUsersPostgres(dataDir, log)
  await withState(
    dataDir,
    async (db) => {
      expect(await keptFacts(db)).toEqual(['yes'])
      const { entries } = await listActivity(db, {})
      expect(entries.map(({ action }) => action)).toEqual(['second', 'first'])
      expect(entries[0]?.subject).toBe(entry('').subject)
      // Identity columns continue, and the log is still protected.
      await insertActivity(db, [entry('third')])
      expect((await listActivity(db, {})).entries.map(({ action }) => action)).toEqual(['third', 'second', 'first'])
      await expect(db.deleteFrom('activity').execute()).rejects.toThrow('are kept as they are for 90 days')
    },
    users,
  )
  const { adminUrl } = await users.start()
  const names = await query<{ datname: string }>(adminUrl, 'select datname from pg_database where not datistemplate')
  expect(names.map(({ datname }) => datname).sort()).toEqual(['plots', 'postgres'])
  expect(await query(adminUrl, "select 1 from pg_roles where rolname = 'quarterdeck'")).toEqual([])
  expect(existsSync(join(dataDir, 'state.moving'))).toBe(false)
  await users.stop()

  const later = createUsersPostgres(dataDir, log)
  expect(await withState(dataDir, async (db) => (await listActivity(db, {})).entries, later)).toHaveLength(3)
  expect(later.port()).toBeUndefined()
})

test('an interrupted move is repeated, and a failed one leaves the state in place', async () => {
  const dataDir = await earlierVersion('interrupted')
  const half = await startEmbeddedPostgres(dataDir, 'state', log)
  await query(half.adminUrl, 'create database quarterdeck_new')
  await half.stop()

  const users = createUsersPostgres(dataDir, log)
  const { adminUrl } = await users.start()
  const source = new URL(adminUrl)
  source.pathname = '/quarterdeck'
  await query(source.href, "insert into kysely_migration values ('9999_future', now()::text)")
  await expect(startStateServer(dataDir, users)).rejects.toMatchObject({
    lines: [expect.stringContaining('holds the state of a newer Quarterdeck')],
  })
  await query(source.href, "delete from kysely_migration where name = '9999_future'")
  expect(await withState(dataDir, keptFacts, users)).toEqual(['yes'])
  await users.stop()
})

test('a later start removes the old copy of a moved state if the start that moved it could not', async () => {
  const dataDir = await earlierVersion('copied')
  const users = createUsersPostgres(dataDir, log)
  const { adminUrl } = await users.start()
  // Neither a template database nor a role that owns objects can be dropped.
  await query(adminUrl, 'update pg_database set datistemplate = true where datname = $$quarterdeck$$')
  await query(adminUrl, 'create table public.kept (); alter table public.kept owner to quarterdeck')
  expect(await withState(dataDir, keptFacts, users)).toEqual(['yes'])
  const copies = () =>
    query(
      adminUrl,
      `select datname as name from pg_database where datname = 'quarterdeck'
       union all select rolname from pg_roles where rolname = 'quarterdeck'`,
    )
  expect(await copies()).toHaveLength(2)

  // After a kill the database, the role, or neither is left.
  await query(adminUrl, 'update pg_database set datistemplate = false where datname = $$quarterdeck$$')
  expect(await withState(dataDir, keptFacts, users)).toEqual(['yes'])
  expect(await copies()).toHaveLength(1)
  await query(adminUrl, 'drop table public.kept')
  expect(await withState(dataDir, keptFacts, users)).toEqual(['yes'])
  expect(await copies()).toEqual([])
  expect(await withState(dataDir, keptFacts, users)).toEqual(['yes'])
  await users.stop()

  const later = createUsersPostgres(dataDir, log)
  expect(await withState(dataDir, keptFacts, later)).toEqual(['yes'])
  expect(later.port()).toBeUndefined()
})

test('security: a user’s database with the name of the state is not mistaken for it', async () => {
  const dataDir = join(directory(), 'namesake')
  mkdirSync(dataDir, { mode: 0o711 })
  const users = createUsersPostgres(dataDir, log)
  const sql = createSqlServer({ url: undefined, embedded: users, state: undefined, log })
  await sql.create({ id: randomUUID(), physical_name: 'quarterdeck', username: 'quarterdeck' }, 'of-the-user')
  const url = new URL((await users.start()).adminUrl)
  const mine = `postgresql://quarterdeck:of-the-user@127.0.0.1:${url.port}/quarterdeck`
  await query(mine, "create table facts (name text, value text); insert into facts values ('kept', 'no')")

  expect(await withState(dataDir, keptFacts, users)).toEqual([])
  expect(await query(mine, 'select value from facts')).toEqual([{ value: 'no' }])
  await sql.close()
  await users.stop()
})

test('missing files of an earlier version’s state stop the start, and no empty state replaces them', async () => {
  const dataDir = await earlierVersion('away')
  renameSync(join(dataDir, 'postgres'), join(dataDir, 'elsewhere'))
  const start = () => withState(dataDir, keptFacts)
  await expect(start()).rejects.toThrow('postgres is missing: mount its disk, or restore it from a backup')
  renameSync(join(dataDir, 'elsewhere'), join(dataDir, 'postgres'))
  const users = createUsersPostgres(dataDir, log)
  expect(await withState(dataDir, keptFacts, users)).toEqual(['yes'])
  await users.stop()
})
