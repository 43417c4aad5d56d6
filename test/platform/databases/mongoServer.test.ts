import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { awakeMs } from '../../support/time/awakeMs'
import { useMongoDatabases, urlOf, store, storedIn } from '../../support/platform/mongoDatabases'
import { processesOf } from '../../support/platform/processesOf'
import { startPlatform } from '../../support/platform/startPlatform'
import { testWithMongo } from '../../support/platform/testWithMongo'
import { until } from '../../support/platform/until'

const { platform, mongo, dataDir, open, call, create, listed } = useMongoDatabases()

testWithMongo('a server that dies is started again on the same port with the same passwords and data', async () => {
  const database = await create('mortal')
  await store(urlOf(database))
  const before = processesOf(dataDir())
  for (const pid of before) process.kill(pid, 'SIGKILL')
  await until(
    () => processesOf(dataDir()),
    (pids) => pids.length === before.length && pids.every((pid) => !before.includes(pid)),
  )
  await until(
    () => storedIn(urlOf(database)).catch(() => 0),
    (count) => count === 1,
  )
  expect(await listed('mortal')).toMatchObject({ tables: 1, credentials: database.credentials })
})

testWithMongo('security 194: a server that hangs does not hold up the list of databases', async () => {
  const { credentials } = await create('held')
  const pids = processesOf(dataDir())
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  try {
    const answer = await Promise.race([listed('held'), delay(15_000, 'no response', { ref: false })])
    expect(answer).toMatchObject({ credentials })
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT')
  }
  await until(async () => (await listed('held'))?.tables === 0)
})

testWithMongo('processes left by a killed platform are ended before its successor starts its own', async () => {
  const [other, password] = [await mkdtemp(join(tmpdir(), 'quarterdeck-mongo-')), 'a-password-for-this-test']
  const database = { id: '11111111-2222-4333-8444-555555555555', physical_name: 'left', username: 'left' }
  const first = await open({ dataDir: other })
  await first.create(database, password)
  const left = processesOf(other)
  expect(left).toHaveLength(1)
  // The first one is not closed, as if the platform had been killed and its child processes had survived.
  const second = await open({ dataDir: other })
  await second.open([{ ...database, password }])
  await until(
    () => processesOf(other),
    (pids) => pids.length >= 1 && !pids.includes(left[0]!),
  )
  await first.close()
  await second.close()
  await until(
    () => processesOf(other),
    (pids) => pids.length === 0,
  )
  await rm(other, { recursive: true, force: true })
})

testWithMongo('the data directory may have any name', async () => {
  const [other, password] = [await mkdtemp(join(tmpdir(), 'quarterdeck 100%41 #1?-')), 'a-password-for-this-test']
  const elsewhere = await open({ dataDir: other })
  const database = { id: '33333333-2222-4333-8444-555555555555', physical_name: 'anywhere', username: 'anywhere' }
  await elsewhere.create(database, password)
  const { port } = await elsewhere.address(database, password)
  await store(`mongodb://anywhere:${password}@127.0.0.1:${port}/anywhere`)
  expect(await elsewhere.stats([database])).toEqual(new Map([[database.id, { size: expect.any(Number), tables: 1 }]]))
  await elsewhere.close()
  await rm(other, { recursive: true, force: true })
})

testWithMongo('a listing that overlaps with a deletion does not restore the database', async () => {
  const database = { id: '22222222-2222-4333-8444-555555555555', physical_name: 'fading', username: 'fading' }
  await mongo().create(database, 'a-password-for-this-test')
  const removed = mongo().remove(database)
  const listing = async () => {
    await mongo().open([{ ...database, password: 'a-password-for-this-test' }])
    await mongo().stats([database])
  }
  await Promise.all([removed, listing(), listing()])
  await listing()
  expect(processesOf(database.id)).toEqual([])
  expect(await readdir(join(dataDir(), 'mongo'), { recursive: true })).not.toContainEqual(
    expect.stringContaining(database.id),
  )
})

testWithMongo(
  'the next start of the platform restores the databases, on the same ports where those are free',
  async () => {
    const database = await create('lasting')
    await store(urlOf(database))
    // Last, because the platform's own server is closed.
    await mongo().close()
    expect(processesOf(dataDir())).toEqual([])
    const squatter = createServer().listen(database.credentials.port, '127.0.0.1')
    await until(() => squatter.listening)

    const next = await open()
    const rows = (await platform().db.selectFrom('databases').selectAll().where('name', '=', 'lasting').execute()).map(
      (row) => ({ ...row, password: database.credentials.password }),
    )
    await next.open(rows)
    await until(
      () => next.stats(rows),
      (measures) => measures.size === 1,
    )
    const { port } = await next.address(rows[0]!, '')
    expect(port).not.toBe(database.credentials.port)
    expect(await storedIn(urlOf(database, { port }))).toBe(1)
    await next.close()
    squatter.close()

    const last = await open()
    await last.open(rows)
    await until(
      () => last.stats(rows),
      (measures) => measures.size === 1,
    )
    expect((await last.address(rows[0]!, '')).port).toBe(port)
    await last.close()
    expect(processesOf(dataDir())).toEqual([])
  },
)

describe('without a server:', () => {
  test('decisions §8: every call gets 503 and says how to get a server; the other section works', async () => {
    // An empty data directory: with existing databases it would ask for the program that made them.
    const empty = await mkdtemp(join(tmpdir(), 'quarterdeck-mongo-'))
    const without = await startPlatform({
      mongo: await open({ dataDir: empty, path: '/nowhere' }),
    })
    const { token } = await without.register('author')
    for (const [method, name, body] of [
      ['GET', '', undefined],
      ['POST', '', { name: 'plots' }],
    ] as const) {
      expect(await call(method, name, body, without, token)).toMatchObject({
        status: 503,
        body: { code: 'NOT_CONFIGURED', message: expect.stringMatching(/mongod|ferretdb/) },
      })
    }
    expect((await without.call('GET', '/api/database/sql', { token })).status).toBe(200)
    // A name whose creation failed is free.
    expect(await without.db.selectFrom('databases').selectAll().where('state', '=', 'ready').execute()).toEqual([])
    await without.close()
    await rm(empty, { recursive: true, force: true })
  })

  test('a program that cannot run is reported as 503 within 5 s, and no process is left', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-mongo-'))
    await mkdir(join(folder, 'bin'))
    await writeFile(join(folder, 'bin/ferretdb'), '#!/bin/sh\necho broken >&2; exit 3\n')
    await chmod(join(folder, 'bin/ferretdb'), 0o755)
    const broken = await startPlatform({
      mongo: await open({ dataDir: folder, path: join(folder, 'bin') }),
    })
    const { token } = await broken.register('author')
    const took = await awakeMs(async () =>
      expect(await call('POST', '', { name: 'plots' }, broken, token)).toMatchObject({
        status: 503,
        body: { code: 'UNAVAILABLE', message: expect.stringContaining('ferretdb') },
      }),
    )
    expect(took).toBeLessThan(5000)
    await until(
      () => broken.db.selectFrom('databases').selectAll().execute(),
      ({ length }) => length === 0,
    )
    expect(await readdir(join(folder, 'mongo/ferretdb'))).toEqual([])
    await broken.close()
    await rm(folder, { recursive: true, force: true })
  })
})
