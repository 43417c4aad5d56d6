import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from 'pg'
import { createSqlServer } from '../../../src/platform/databases/sqlServer'
import { canConnect, connectClient } from '../../support/platform/postgresClients'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'
import { startUsersServer } from '../../support/platform/usersServer'

jest.setTimeout(120_000)

const directory = useTemporaryDirectory()

/** Starts a loop that takes days, and that neither a time-out nor a signal to end interrupts. */
async function loop(client: Client, before = ''): Promise<void> {
  await client.query("create temp table texts as select 'b' || repeat('a', 1000000) part, repeat('a', 100000000) whole")
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const seconds = () => Number(readFileSync(`/proc/${rows[0]!.pid}/stat`, 'utf8').split(' ')[13]) / 100
  const start = seconds()
  client.query(`set statement_timeout = 0; ${before} select position(part in whole) from texts`).catch(() => undefined)
  // Before the loop itself it needs little time.
  await until(() => seconds() > start + 2)
}

test('security 150: a session in a loop that no signal interrupts does not block the deletion of databases', async () => {
  const { users, log, lines } = await startUsersServer(join(directory(), 'loop'))
  const server = createSqlServer({ url: undefined, embedded: users, state: undefined, log })
  const make = async (name: string) => {
    const database = { id: randomUUID(), physical_name: name, username: name }
    await server.create(database, 'secret')
    return { database, url: `postgresql://${name}:secret@127.0.0.1:${users.port()}/${name}` }
  }
  /** Deletes a database as calls do: after a restart of the server, the next one continues. */
  const remove = (database: Parameters<typeof server.remove>[0]) =>
    until(() =>
      server.remove(database).then(
        () => true,
        () => false,
      ),
    )
  const [mine, others] = [await make('mine'), await make('others')]
  const looping = await connectClient(mine.url)
  await loop(looping)
  await remove(others.database)
  expect(await canConnect(others.url)).toBe(false)
  expect(lines.filter((line) => line.includes('killed a database session'))).toHaveLength(1)

  const again = await connectClient(mine.url)
  await loop(again)
  await remove(mine.database)
  expect(await canConnect(mine.url)).toBe(false)
  await server.close()
  await users.stop()
})

test('security 150: a session in such a loop does not keep the lock table filled', async () => {
  const { users, adminUrl } = await startUsersServer(join(directory(), 'locks'))
  const admin = await connectClient(adminUrl)
  await admin.query("create role greedy login password 'secret'; grant connect on database postgres to greedy")
  const greedy = await connectClient(`postgresql://greedy:secret@127.0.0.1:${users.port()}/postgres`)
  await loop(greedy, 'select count(pg_advisory_lock(at)) from generate_series(1, 15000) at;')
  const countLocks = async (url: string) => {
    const client = await connectClient(url)
    const { rows } = await client.query<{ locks: number }>('select count(*)::int as locks from pg_locks')
    await client.end()
    return rows[0]!.locks
  }
  await until(async () => (await countLocks(adminUrl)) > 15_000)
  await until(async () => (await countLocks(adminUrl).catch(() => Infinity)) < 1000)
  await admin.end()
  await users.stop()
})
