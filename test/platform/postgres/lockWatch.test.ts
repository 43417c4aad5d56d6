import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { startEmbeddedPostgres } from '../../../src/platform/postgres/embeddedPostgres'
import { watchLocks } from '../../../src/platform/postgres/lockWatch'
import { canConnect, connectClient } from '../../support/platform/postgresClients'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'
import { startUsersServer } from '../../support/platform/usersServer'

jest.setTimeout(120_000)

const directory = useTemporaryDirectory()

test('security: sessions that exhaust the lock table are ended, and the login of a role that repeats it is revoked', async () => {
  const { users, adminUrl, lines } = await startUsersServer(join(directory(), 'data'))
  const admin = await connectClient(adminUrl)
  for (const role of ['greedy', 'other']) await admin.query(`create role ${role} login password 'secret'`)
  // Waits for the first look of the watch: later ones need no room in the lock table. Its last query stays visible.
  await until(async () => {
    const { rowCount } = await admin.query(
      "select 1 from pg_stat_activity where query like '%pg_notification_queue_usage%' and state = 'idle'",
    )
    return Boolean(rowCount)
  })
  await admin.end()
  const urlOf = (role: string) => adminUrl.replace(/\/\/[^@]+@/, `//${role}:secret@`)
  const other = await connectClient(urlOf('other'))
  await other.query('select pg_advisory_lock(at) from generate_series(1, 1000) at')

  for (let round = 1; round <= 3; round++) {
    const greedy = await connectClient(urlOf('greedy'))
    await expect(
      greedy.query('select pg_advisory_lock(-at) from generate_series(1, 1000000) at'),
    ).rejects.toMatchObject({ code: expect.stringMatching('53200|57P01') as string })
    await until(() => lines.filter((line) => line.includes('held too many locks')).length === round)
    await until(() => canConnect(urlOf('other')))
  }
  await until(() => lines.some((line) => line.includes('"role":"greedy"') && line.includes('may no longer log in')))
  await expect(connectClient(urlOf('greedy'))).rejects.toMatchObject({ code: '28000' })
  // A session with few locks is not ended.
  expect((await other.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await other.end()
  await users.stop()
})

test('security: the login of a role that fills the lock table after a restart, before the watch connects, is revoked', async () => {
  const dataDir = join(directory(), 'restarted')
  const { users, adminUrl, lines } = await startUsersServer(dataDir)
  const admin = await connectClient(adminUrl)
  for (const role of ['greedy', 'other']) await admin.query(`create role ${role} login password 'secret'`)
  await admin.end()
  const urlOf = (role: string) => `postgresql://${role}:secret@127.0.0.1:${users.port()}/postgres`

  let isOver = false
  let finish: () => void = () => undefined
  const over = new Promise<void>((resolve) => (finish = resolve))
  const grab = async () => {
    for (; !isOver; await delay(3)) {
      const greedy = await connectClient(urlOf('greedy')).catch(() => undefined)
      if (!greedy) continue
      const ended = new Promise((resolve) => greedy.once('end', resolve))
      await greedy
        .query('select pg_advisory_lock(at + (random() * 1e9)::int) from generate_series(1, 30000) at')
        .catch(() => undefined)
      // A session with few locks is not ended.
      await Promise.race([ended, over])
      await greedy.end()
    }
  }
  process.kill(Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]), 'SIGINT')
  const grabbing = [grab(), grab(), grab()]
  await until(() => lines.some((line) => line.includes('"role":"greedy"') && line.includes('may no longer log in')))
  await until(() => canConnect(urlOf('other')))
  isOver = true
  finish()
  await Promise.all(grabbing)
  await users.stop()
})

/** @returns the parts of a log with the lines written to it */
function createLog() {
  const lines: string[] = []
  return { lines, log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }) }
}

test('the watch ends while a session that does not react to signals holds too many locks', async () => {
  const dataDir = join(directory(), 'deaf')
  mkdirSync(dataDir, { mode: 0o711 })
  const { log } = createLog()
  const postgres = await startEmbeddedPostgres(dataDir, 'databases', log)
  const admin = await connectClient(postgres.adminUrl)
  await admin.query("create role greedy login password 'secret'; grant connect on database postgres to greedy")
  await admin.end()
  const greedy = await connectClient(postgres.adminUrl.replace(/\/\/[^@]+@/, '//greedy:secret@'))
  await greedy.query('select count(pg_advisory_lock(at)) from generate_series(1, 15000) at')

  let ends = 0
  let stopping: Promise<void> | undefined
  let isStopped = false
  const stop = watchLocks(
    {
      adminUrl: postgres.adminUrl,
      endUsersSessions: async () => {
        ends += 1
        stopping ??= stop().then(() => void (isStopped = true))
      },
    },
    log,
  )
  await until(() => isStopped || ends > 20)
  await greedy.end()
  await stopping
  await postgres.stop()
  expect(ends).toBe(1)
})

test('a session that takes several looks to end counts once, so its role may still log in', async () => {
  const dataDir = join(directory(), 'slow')
  mkdirSync(dataDir, { mode: 0o711 })
  const { log, lines } = createLog()
  const postgres = await startEmbeddedPostgres(dataDir, 'databases', log)
  const admin = await connectClient(postgres.adminUrl)
  await admin.query("create role greedy login password 'secret'; grant connect on database postgres to greedy")
  const url = postgres.adminUrl.replace(/\/\/[^@]+@/, '//greedy:secret@')
  const greedy = await connectClient(url)
  await greedy.query('select count(pg_advisory_lock(at)) from generate_series(1, 15000) at')
  let ends = 0
  const stop = watchLocks({ adminUrl: postgres.adminUrl, endUsersSessions: async () => void ends++ }, log)
  await until(() => ends >= 5)
  await stop()
  expect(await canConnect(url)).toBe(true)
  expect(lines.filter((line) => line.includes('held too many locks'))).toHaveLength(1)
  await Promise.all([greedy.end(), admin.end()])
  await postgres.stop()
})

test('a lock table that stays full is reported once a second, with pauses between the attempts to make room', async () => {
  const message = (type: string, body: string) => {
    const header = Buffer.from(`${type}\0\0\0\0`)
    header.writeInt32BE(body.length + 4, 1)
    return Buffer.concat([header, Buffer.from(body)])
  }
  const ready = message('Z', 'I')
  const full = Buffer.concat([message('E', 'SERROR\0C53200\0Mout of shared memory\0\0'), ready])
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', '\0\0\0\0'), ready]))
      socket.on('data', () => socket.write(full))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  const { lines, log } = createLog()
  let ends = 0
  const since = performance.now()
  const { port } = server.address() as AddressInfo
  const stop = watchLocks(
    { adminUrl: `postgresql://postgres:secret@127.0.0.1:${port}/postgres`, endUsersSessions: async () => void ends++ },
    log,
  )
  const rounds = 25
  await until(() => ends >= rounds)
  // 25 rounds without a pause take a few milliseconds.
  expect(performance.now() - since).toBeGreaterThan(rounds * 10)
  await stop()
  const reports = lines.filter((line) => line.includes('the table of locks is full')).length
  expect(reports).toBeLessThanOrEqual(1 + (performance.now() - since) / 1000)
  server.close()
})
