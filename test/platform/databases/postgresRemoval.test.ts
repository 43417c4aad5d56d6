import type { Client } from 'pg'
import { onServer } from '../../support/platform/freshState'
import { useSqlDatabases, unique, databaseOf, connect, as, codeOf } from '../../support/platform/sqlDatabases'

const { call, create, listed } = useSqlDatabases()

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

describe('a session that locks its own role', () => {
  /** Creates a database, and changes the password of its role in a transaction that stays open. */
  async function withLockedRole() {
    const made = await create(unique('mine'))
    const holder = await connect(made)
    await holder.query('begin')
    await holder.query(`alter user "${made.credentials.username}" password 'held'`)
    return made
  }

  test('does not block a reset of the password', async () => {
    const { name } = await withLockedRole()
    const answer = await call('PATCH', name)
    expect(answer.status).toBe(200)
    await as(databaseOf(answer), (client) => client.query('select 1'))
  })

  test('does not block the deletion of its database', async () => {
    const { name } = await withLockedRole()
    expect((await call('DELETE', name)).status).toBe(200)
  })
})

test('sessions that keep setting the password of their role do not block a reset, whose password counts', async () => {
  const made = await create(unique('mine'))
  const { name } = made
  const { username, database } = made.credentials
  let current = made
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
])('a role with rights in a database %s can be deleted, and its name is free again', async (_case, sabotage) => {
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

test('a database whose removal PostgreSQL has begun and not finished can be deleted', async () => {
  const [database, other] = [await create(unique('half')), await create(unique('other'))]
  await as(database, (client) => client.query(`create table shared (x int); grant select on shared to "${other.name}"`))
  // As PostgreSQL marks it before it removes the files, and leaves it when it is interrupted.
  await onServer((admin) => admin.query('update pg_database set datconnlimit = -2 where datname = $1', [database.name]))
  // Its rights there cannot be revoked, only dropped with that database: the next call completes the deletion.
  expect((await call('DELETE', other.name)).status).toBe(503)
  expect((await call('DELETE', database.name)).status).toBe(200)
  await create(database.name)
  await create(other.name)
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

test('a lock that a user holds in one database does not block the deletion of another database', async () => {
  const [giver, taker] = [await create(unique('giver')), await create(unique('taker'))]
  await as(giver, (client) => client.query(`create table shared (x int); grant select on shared to "${taker.name}"`))
  const holder = await connect(giver)
  await holder.query('begin; lock table shared')
  expect((await call('DELETE', taker.name)).status).toBe(200)
  await holder.end().catch(() => undefined)
})
