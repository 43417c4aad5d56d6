import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Client } from 'pg'
import { endOldTransactions } from '../../../src/platform/postgres/oldTransactions'
import { connectClient } from '../../support/platform/postgresClients'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'
import { startUsersServer } from '../../support/platform/usersServer'

jest.setTimeout(120_000)

const directory = useTemporaryDirectory()

/** Consumes transaction ids by rolling back subtransactions, hundreds of thousands of them a second. */
const burn = (ids: number) =>
  `do $$ begin for i in 1..${ids} loop begin insert into burnt values (1); raise exception ''; exception when others then end; end loop; end $$`

test('security: a session that holds old transaction ids is ended before the server runs out of them', async () => {
  const { users, adminUrl, endUsersSessions, log, lines } = await startUsersServer(join(directory(), 'data'))
  const admin = await connectClient(adminUrl)
  const urlOf = (role: string) => adminUrl.replace(/\/\/[^@]+@/, `//${role}:secret@`).replace('/postgres?', `/${role}?`)
  for (const role of ['holding', 'burning', 'keeping', 'other']) {
    await admin.query(`create role ${role} login password 'secret'`)
    await admin.query(`create database ${role} owner ${role}`)
  }
  const [holding, burning, keeping, other] = (await Promise.all(
    ['holding', 'burning', 'keeping', 'other'].map((role) => connectClient(urlOf(role))),
  )) as [Client, Client, Client, Client]
  await holding.query('begin')
  await holding.query('select pg_current_xact_id()')
  // A temporary table holds old ids that no other session can vacuum.
  await keeping.query('create temp table kept ()')
  await burning.query('create table burnt (at int)')
  await burning.query('begin')
  await burning.query(burn(30_000))
  await other.query('begin')
  await other.query('select pg_current_xact_id()')

  await endOldTransactions(admin, endUsersSessions, log, { transaction: 20_000, database: 1_000_000 })
  expect(lines[0]).toMatch(/"roles":\["(holding","burning|burning","holding)"\]/)
  for (const ended of [holding, burning]) await expect(ended.query('select 1')).rejects.toThrow()
  for (const left of [keeping, other]) expect((await left.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await other.query('rollback')

  for (const role of ['holding', 'burning', 'other']) {
    const vacuuming = await connectClient(adminUrl.replace('/postgres?', `/${role}?`))
    await vacuuming.query('vacuum freeze')
    await vacuuming.end()
  }
  await endOldTransactions(admin, endUsersSessions, log, { transaction: 20_000, database: 20_000 })
  expect(lines[1]).toContain('"roles":["keeping"]')
  await expect(keeping.query('select 1')).rejects.toThrow()
  expect((await other.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await Promise.all([admin, holding, burning, keeping, other].map((client) => client.end()))
  await users.stop()
})

test('security: a connection that does not sign in is ended within 5 seconds', async () => {
  const { users, adminUrl } = await startUsersServer(join(directory(), 'silent'))
  const socket = connect(Number(new URL(adminUrl).port), '127.0.0.1')
  const since = performance.now()
  await once(socket, 'connect')
  socket.resume()
  await once(socket, 'close')
  expect(performance.now() - since).toBeLessThan(5000)
  await users.stop()
})

test('security 143: notifications that a session does not read take 512 MiB of the disk at most', async () => {
  const data = join(directory(), 'notifying')
  const { users, adminUrl, lines } = await startUsersServer(data)
  const admin = await connectClient(adminUrl)
  await admin.query("create role notifying login password 'secret'")
  const url = adminUrl.replace(/\/\/[^@]+@/, '//notifying:secret@')
  const [listening, sending] = await Promise.all([connectClient(url), connectClient(url)])
  await listening.query('listen news')
  await listening.query('begin')
  await listening.query('select 1')
  const send = () =>
    sending.query("select count(pg_notify('news', n || repeat('x', 7900))) from generate_series(1, 10000) n")
  // 79 MB each. The queue has the size of 8 GiB by default.
  const filling = async () => {
    for (let sent = 0; sent < 10; sent++) await send()
  }
  await expect(filling()).rejects.toMatchObject({ code: '54000' })
  const queue = join(data, 'postgres', 'pg_notify')
  const sizes = await Promise.all((await readdir(queue)).map(async (name) => (await stat(join(queue, name))).size))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(513 * 2 ** 20)
  await until(() => lines.some((line) => line.includes('the queue of notifications is more than half full')))
  await listening.query('rollback')
  await until(() =>
    sending.query("notify news, 'again'").then(
      () => true,
      () => false,
    ),
  )
  await Promise.all([admin, listening, sending].map((client) => client.end()))
  await users.stop()
})

test('security 149: a connection that another session blocks while it is being opened is ended within 15 seconds', async () => {
  const { users, adminUrl } = await startUsersServer(join(directory(), 'blocked'))
  const admin = await connectClient(adminUrl)
  await admin.query("create role blocking login password 'secret'")
  await admin.query('create database blocking owner blocking')
  const url = adminUrl.replace(/\/\/[^@]+@/, '//blocking:secret@').replace('/postgres?', '/blocking?')
  const [oldest, reindexing] = await Promise.all([connectClient(url), connectClient(url)])
  await oldest.query("begin; select 1 from pg_class where oid = 'pg_class'::regclass")
  // Waits for the transaction; new connections, which need the same index, wait for both.
  const reindexed = reindexing.query('reindex system blocking').catch(() => undefined)
  await until(async () => {
    const { rowCount } = await admin.query("select 1 from pg_locks where not granted and mode = 'AccessExclusiveLock'")
    return Boolean(rowCount)
  })
  const begin = performance.now()
  await expect(connectClient(adminUrl.replace('/postgres?', '/blocking?'))).rejects.toMatchObject({ code: '55P03' })
  expect(performance.now() - begin).toBeLessThan(15_000)
  // What sessions do once they are open may wait as long as they want.
  expect((await oldest.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '0' }])
  await oldest.query('rollback')
  await reindexed
  await Promise.all([admin, oldest, reindexing].map((client) => client.end()))
  await users.stop()
})
