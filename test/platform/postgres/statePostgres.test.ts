import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import pino from 'pino'
import { createSqlServer } from '../../../src/platform/databases/sqlServer'
import type { StatePostgres } from '../../../src/platform/postgres/statePostgres'
import { createUsersPostgres, type UsersPostgres } from '../../../src/platform/postgres/usersPostgres'
import { OOM_SCORES } from '../../../src/platform/supervision/programProcess'
import { withClient } from '../../support/platform/postgresClients'
import { processesOf, signalIfThere } from '../../support/platform/processesOf'
import { keepFact, keptFacts, startStateServer, withState } from '../../support/platform/stateServer'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { canMount, mountTmpfs, remount, unmount } from '../../support/platform/tmpfs'
import { until } from '../../support/platform/until'

jest.setTimeout(120_000)

const log = pino({ level: 'silent' })
const directory = useTemporaryDirectory()
const dataDir = () => join(directory(), 'embedded')
const clusterFile = () => join(dataDir(), 'state.json')
const storedFacts = () => withState(dataDir(), keptFacts)

beforeAll(async () => {
  await mkdir(dataDir())
  await withState(dataDir(), keepFact)
})

test('the state is never recreated when its passwords are unreadable: the start fails with one line, and the data stays', async () => {
  const cluster = await readFile(clusterFile(), 'utf8')
  await rm(clusterFile())
  await expect(startStateServer(dataDir())).rejects.toMatchObject({
    lines: [expect.stringContaining('state.json is missing: restore it from a backup')],
  })
  for (const damaged of ['', cluster.slice(0, 20), '{}']) {
    await writeFile(clusterFile(), damaged)
    await expect(startStateServer(dataDir())).rejects.toMatchObject({
      lines: [expect.stringContaining('state.json is damaged: restore it from a backup')],
    })
  }
  await rm(clusterFile())
  await mkdir(clusterFile())
  await expect(startStateServer(dataDir())).rejects.toMatchObject({
    lines: [expect.stringContaining('state.json cannot be read (EISDIR)')],
  })
  await rm(clusterFile(), { recursive: true })
  await writeFile(clusterFile(), cluster)
  expect(await storedFacts()).toEqual(['yes'])
})

test('the state is never recreated when its files are missing: the start fails with one line', async () => {
  const elsewhere = join(directory(), 'elsewhere')
  await rename(join(dataDir(), 'state'), elsewhere)
  await expect(startStateServer(dataDir())).rejects.toMatchObject({
    lines: [
      expect.stringContaining(`${join(dataDir(), 'state')} is missing: mount its disk, or restore it from a backup`),
    ],
  })
  await rename(elsewhere, join(dataDir(), 'state'))
  expect(await storedFacts()).toEqual(['yes'])
})

test('the next start finds the cluster of a first start that was interrupted at the end', async () => {
  await rename(clusterFile(), `${clusterFile()}.new`)
  expect(await storedFacts()).toEqual(['yes'])
  expect(await readdir(dataDir())).toEqual(['state', 'state.json', 'state.lock', 'state.sockets'])
})

test('the next start creates the cluster again if the first start was interrupted half-way', async () => {
  const fresh = join(directory(), 'cut-off')
  await mkdir(join(fresh, 'state.new'), { recursive: true })
  await writeFile(join(fresh, 'state.new/PG_VERSION'), '18')
  await writeFile(join(fresh, 'state.json.new'), '{"port"')
  await (await startStateServer(fresh)).stop()
  expect(await readdir(fresh)).toEqual(['state', 'state.json', 'state.lock', 'state.sockets'])
})

test('a server that is stopped during a restart leaves no process', async () => {
  const postgres = await startStateServer(dataDir())
  const first = processesOf(dataDir())
  for (const pid of first) signalIfThere(pid, 'SIGKILL')
  await until(() => processesOf(dataDir()).some((pid) => !first.includes(pid)))
  await postgres.stop()
  expect(processesOf(dataDir())).toEqual([])
  expect(await storedFacts()).toEqual(['yes'])
})

test.each([
  ['', 'new'],
  [' if the path is too long for a socket', 'long'.repeat(30)],
])('security: the state’s server listens on no port%s', async (_case, name) => {
  const data = join(directory(), name)
  await mkdir(data, { mode: 0o711 })
  const postgres = await startStateServer(data)
  const { port } = JSON.parse(await readFile(join(data, 'state.json'), 'utf8')) as { port: number }
  await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await postgres.stop()
})

describe('the server of users’ databases', () => {
  let users: UsersPostgres
  let postgres: StatePostgres
  beforeAll(async () => {
    const data = join(directory(), 'beside')
    await mkdir(data, { mode: 0o711 })
    users = createUsersPostgres(data, log)
    postgres = await startStateServer(data, users)
  })
  afterAll(() => postgres.stop())

  const databasesOf = (url: string) =>
    withClient(url, async (client) => {
      const { rows } = await client.query<{ datname: string }>('select datname from pg_database')
      return rows.map(({ datname }) => datname)
    })

  test('is created on demand, once for concurrent calls, and has no database of the state', async () => {
    expect([users.exists(), users.port()]).toEqual([false, undefined])
    const [first, second] = await Promise.all([users.start(), users.start()])
    expect(first).toBe(second)
    expect(users.port()).toBe(Number(new URL(first.adminUrl).port))
    expect(await databasesOf(first.adminUrl)).not.toContain('quarterdeck')
  })

  test('has sessions that the kernel kills before instances when memory runs out, unlike those of the state', async () => {
    const oomScoreOf = (url: string) =>
      withClient(url, async (client) => {
        const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
        return Number(await readFile(`/proc/${rows[0]?.pid}/oom_score_adj`, 'utf8'))
      })
    expect(await oomScoreOf((await users.start()).adminUrl)).toBeGreaterThan(OOM_SCORES.instances)
    expect(await oomScoreOf(postgres.url)).toBeLessThan(OOM_SCORES.instances)
  })

  test('does not start again once the platform has stopped it', async () => {
    await users.stop()
    await expect(users.start()).rejects.toThrow('shutting down')
  })
})

test('security 196: while the server of users’ databases recovers, calls for them fail with the reason instead of waiting', async () => {
  const recovering: UsersPostgres = {
    exists: () => true,
    start: () => new Promise(() => undefined),
    port: () => undefined,
    stop: async () => undefined,
  }
  const sql = createSqlServer({ url: undefined, embedded: recovering, state: undefined, log })
  // The call after it waits, so that a listing does not wait twice.
  const opened = performance.now()
  await sql.open([])
  expect(performance.now() - opened).toBeLessThan(2000)
  const database = { id: randomUUID(), physical_name: 'plots', username: 'plots' }
  const refusal = {
    code: 'UNAVAILABLE',
    message: 'The embedded PostgreSQL is starting. Try again in a moment.',
  }
  await Promise.all([
    expect(sql.stats([database])).rejects.toMatchObject(refusal),
    expect(sql.create(database, 'secret')).rejects.toMatchObject(refusal),
    expect(sql.remove(database)).rejects.toMatchObject(refusal),
  ])
  await sql.close()
}, 30_000)

test('security 190: the server of the state needs nothing in /dev/shm, not even when it is created', async () => {
  const server = await startStateServer(dataDir())
  try {
    const [pid] = (await readFile(join(dataDir(), 'state/postmaster.pid'), 'utf8')).split('\n')
    const maps = await readFile(`/proc/${pid}/maps`, 'utf8')
    expect(maps).toContain('/pg_dynshmem/')
    expect(maps).not.toContain('/dev/shm/PostgreSQL.')
  } finally {
    await server.stop()
  }
  expect(await readFile(join(dataDir(), 'state/postgresql.conf'), 'utf8')).toMatch(
    /^dynamic_shared_memory_type = mmap/m,
  )
})

;(canMount ? test : test.skip)(
  'a disk that is too full for a PostgreSQL server is named in the error, and the next attempt works',
  async () => {
    const data = join(directory(), 'full')
    mountTmpfs(data, '10m')
    const users = createUsersPostgres(data, log)
    try {
      await expect(startStateServer(data, users)).rejects.toMatchObject({
        lines: [expect.stringMatching(/could not be created in .*No space left on device/)],
      })
      const sql = createSqlServer({ url: undefined, embedded: users, state: undefined, log })
      const database = { id: randomUUID(), physical_name: 'plots', username: 'plots' }
      await expect(sql.create(database, 'secret')).rejects.toMatchObject({ code: 'DISK_FULL' })
      remount(data, 'size=300m')
      await sql.create(database, 'secret')
      await (await startStateServer(data, users)).stop()
      await sql.close()
    } finally {
      await users.stop()
      unmount(data)
    }
  },
)
