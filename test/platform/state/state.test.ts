import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { sql } from 'kysely'
import type { AppError } from '../../../src/platform/errors'
import { boundPool } from '../../../src/platform/state/boundedPool'
import { checkWritable, openStateDatabase, stateFailure } from '../../../src/platform/state/db'
import { freshDatabase, freshState, onServer } from '../../support/platform/freshState'
import { until } from '../../support/platform/until'

test('migrations run once when several platforms start at the same time', async () => {
  const { url, drop } = await freshDatabase()
  const states = await Promise.all([openStateDatabase(url), openStateDatabase(url), openStateDatabase(url)])
  const { rows } = await states[0].pool.query<{ name: string }>('select name from kysely_migration order by name')
  // Checks that no migration file is missing in db.ts.
  expect(rows.map(({ name }) => `${name}.ts`)).toEqual(
    (await readdir(join(__dirname, '../../../src/platform/state/migrations'))).sort(),
  )
  await Promise.all(states.map((state) => state.close()))
  await drop()
})

test('an unreachable server is reported in one clear line', async () => {
  await expect(openStateDatabase('postgresql://u:very-secret@127.0.0.1:1/x')).rejects.toMatchObject({
    lines: ['PostgreSQL at 127.0.0.1:1 cannot be reached: start it or correct QUARTERDECK_STATE_URL'],
  })
})

test('a wrong password and a missing database are reported in one clear line each, without the password', async () => {
  const url = new URL(process.env.TEST_POSTGRES_URL!)
  const server = `PostgreSQL at 127.0.0.1:${url.port}`
  url.pathname = '/nothing-here'
  await expect(openStateDatabase(url.href)).rejects.toMatchObject({
    lines: [`${server} has no database "nothing-here": create it or correct QUARTERDECK_STATE_URL`],
  })
  url.password = 'very-secret'
  await expect(openStateDatabase(url.href)).rejects.toMatchObject({
    lines: [`${server} refuses the user or password of QUARTERDECK_STATE_URL`],
  })
})

test('security 52: statements that wait for a lock are cancelled and do not block others', async () => {
  const { url, drop } = await freshDatabase()
  const state = await openStateDatabase(url, 500)
  const locker = await state.pool.connect()
  await locker.query('begin; lock table activity in access exclusive mode')
  const waiting = async () =>
    (
      await locker.query<{ count: number }>(
        "select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      )
    ).rows[0]!.count
  const read = () => state.db.selectFrom('activity').select('id').execute()
  // More calls than the pool has connections, half of them in transactions, whose rollback must not hang either.
  const calls = Array.from({ length: 40 }, (_, index) =>
    (index % 2 ? read() : state.db.transaction().execute(read)).then(() => 'done', stateFailure),
  )
  for (const call of calls) expect(await call).toMatchObject({ code: 'UNAVAILABLE' })
  await until(async () => (await waiting()) === 0)
  expect(await state.db.selectFrom('users').select('id').execute()).toEqual([])
  await locker.query('rollback')
  locker.release()
  expect(await read()).toEqual([])
  expect(state.pool.totalCount).toBeLessThanOrEqual(20)
  await state.close()
  await drop()
})

test('security 52: the time spent waiting for a connection shortens the time-out of its first query', async () => {
  const waits: number[] = []
  const client = {
    query: async ({ query_timeout }: { query_timeout: number }) => void waits.push(query_timeout),
    release: () => undefined,
  }
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0)
  const connect = async () => {
    clock.mockReturnValue(50)
    return client
  }
  const connection = await boundPool({ connect } as unknown as Pool, 10_000).connect()
  await connection.query('select 1', [])
  await connection.query('select 1', [])
  clock.mockRestore()
  expect(waits).toEqual([9_950, 10_000])
})

test('security 52: connections that break fail only their own queries', async () => {
  const state = await freshState()
  const name = new URL(state.url).pathname.slice(1)
  const running = Array.from({ length: 5 }, () =>
    sql`select pg_sleep(20)`.execute(state.db).then(() => 'done', stateFailure),
  )
  await until(async () => {
    const { rows } = await state.pool.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where query like '%pg_sleep(20)%' and datname = current_database()",
    )
    return rows[0]!.count >= 5
  })
  // A connection that is checked out and idle, so that no query fails when it breaks.
  const client = await state.pool.connect()
  await onServer((admin) =>
    admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]),
  )
  expect((await Promise.all(running)).map((failure) => (failure as AppError).code)).toEqual(
    Array(5).fill('UNAVAILABLE'),
  )
  await expect(client.query('select 1')).rejects.toThrow()
  client.release(true)
  // Every broken connection fails at most one query.
  await until(() =>
    sql`select 1`.execute(state.db).then(
      () => true,
      () => false,
    ),
  )
  await state.close()
})

test.each([
  ['25006', 'it is read-only'],
  ['28000', 'the user may not sign in'],
  ['28P01', 'the password was changed'],
  ['3D000', 'it was renamed or dropped'],
  ['42501', 'the user lost a right'],
  ['53200', 'it is out of memory'],
  ['55000', 'it accepts no connections'],
  ['55P03', 'no statement may wait for a lock'],
  ['57014', 'statements have little time'],
  ['57P05', 'idle sessions end'],
  ['58030', 'its disk fails'],
])('security 215: a database that refuses with %s (%s) is unavailable', async (errcode) => {
  const state = await freshState()
  const refused = sql`do ${sql.raw(`$$ begin raise exception using errcode = '${errcode}'; end $$`)}`.execute(state.db)
  expect(await refused.catch(stateFailure)).toMatchObject({ code: 'UNAVAILABLE' })
  await state.close()
})

test('security 215: a database to which no connection can be opened is unavailable, whatever the reason', async () => {
  const failures = ['certificate has expired', 'The server does not support SSL connections'].map((reason) => {
    const pool = { connect: () => Promise.reject(new Error(reason)) } as unknown as Pool
    return boundPool(pool, 1000).connect().catch(stateFailure)
  })
  for (const failure of await Promise.all(failures)) expect(failure).toMatchObject({ code: 'UNAVAILABLE' })
})

test('security 215: a failed serialization is a conflict, as a deadlock is', async () => {
  const state = await freshState()
  const failed = sql`do $$ begin raise exception using errcode = '40001'; end $$`.execute(state.db)
  expect(await failed.catch(stateFailure)).toMatchObject({ code: 'CONFLICT' })
  await state.close()
})

test('security 215: sessions of a read-only database are replaced, and its health fails, until it is writable', async () => {
  const state = await freshState()
  const name = new URL(state.url).pathname.slice(1)
  const check = () => checkWritable(state.db).then(() => 'writable', stateFailure)
  expect(await check()).toBe('writable')
  await onServer((admin) => admin.query(`alter database ${name} set default_transaction_read_only = on`))
  await onServer((admin) =>
    admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]),
  )
  await until(check, (failure) => failure !== 'writable' && (failure as AppError).message.includes('refuses'))
  await onServer((admin) => admin.query(`alter database ${name} reset default_transaction_read_only`))
  // A session that was open would stay read-only.
  expect(await check()).toBe('writable')
  await state.close()
})

test('security 94: the locks of a replica that falls silent in a transaction are released by the server', async () => {
  const { url, drop } = await freshDatabase()
  const [silent, other] = await Promise.all([openStateDatabase(url, 500), openStateDatabase(url, 500)])
  let resume = () => {}
  const resumed = new Promise<void>((resolve) => (resume = resolve))
  let isLocked = false
  const transaction = silent.db.transaction().execute(async (transaction) => {
    await sql`lock table users in access exclusive mode`.execute(transaction)
    isLocked = true
    await resumed
    return transaction.selectFrom('users').select('id').execute()
  })
  await until(() => isLocked)
  const read = () => other.db.selectFrom('users').select('id').execute()
  await until(() => read().catch(stateFailure), Array.isArray)
  resume()
  // It learns that its transaction was ended, and its next one works.
  expect(await transaction.catch(stateFailure)).toMatchObject({ code: 'UNAVAILABLE' })
  expect(await silent.db.transaction().execute(read)).toEqual([])
  await Promise.all([silent.close(), other.close()])
  await drop()
})

test('the state of a newer version is refused', async () => {
  const state = await freshState()
  await state.pool.query("insert into kysely_migration values ('9999_future', now()::text)")
  await expect(openStateDatabase(state.url)).rejects.toMatchObject({
    lines: [expect.stringContaining('holds the state of a newer Quarterdeck')],
  })
  await state.close()
})
