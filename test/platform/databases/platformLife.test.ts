import { copyFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { generate } from 'otplib'
import { Client } from 'pg'
import type { Database } from '../../../src/contract/database'
import { mongoPath } from '../../support/platform/mongoPath'
import { processesOf } from '../../support/platform/processesOf'
import {
  endProgram,
  killLeftovers,
  readyUrl,
  runProgram,
  type RunningProgram,
} from '../../support/platform/runPlatform'
import { stopHost } from '../../support/platform/stopHost'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

jest.setTimeout(180_000)

const directory = useTemporaryDirectory()
afterAll(async () => {
  killLeftovers()
  await stopHost(join(directory(), 'data'))
})

interface Data {
  token: string
  secret: string
  loginToken: string
  databases: Database[]
}

interface Platform extends RunningProgram {
  call(method: string, path: string, body?: unknown): Promise<{ status: number; data: Data }>
}

let token = ''

async function start(): Promise<Platform> {
  const program = runProgram('main', {
    QUARTERDECK_PORT: '0',
    QUARTERDECK_LOG_LEVEL: 'error',
    QUARTERDECK_SAMPLE: 'off',
    QUARTERDECK_FIRST_INVITE: 'first-invite-of-all',
    QUARTERDECK_DATA_DIR: join(directory(), 'data'),
    ...(mongoPath !== undefined && { PATH: mongoPath }),
  })
  const url = await readyUrl(program)
  return {
    ...program,
    async call(method, path, body) {
      const answer = await fetch(`${url}/api/${path}`, {
        method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: answer.status, data: ((await answer.json()) as { data: Data }).data }
    },
  }
}

async function register({ call }: Platform): Promise<void> {
  const account = { username: 'author', password: 'correct horse battery' }
  const inviteToken = (await call('POST', 'auth/verify-invite', { inviteCode: 'first-invite-of-all' })).data.token
  const secret = (await call('POST', 'auth/register', { ...account, inviteToken })).data.secret
  token = (
    await call('POST', 'auth/verify-registration', {
      username: account.username,
      token: await generate({ secret }),
      inviteToken,
    })
  ).data.loginToken
}

async function listed({ call }: Platform, type: string): Promise<Database[]> {
  const { status, data } = await call('GET', `database/${type}`)
  expect(status).toBe(200)
  return data.databases
}

async function rowsOfSql({ credentials: { username, password, host, port, database } }: Database): Promise<number> {
  const client = new Client({ user: username, password, host, port, database })
  await client.connect()
  await client.query('create table if not exists plots (x int); insert into plots values (1)')
  const { rows } = await client.query<{ count: number }>('select count(*)::int as count from plots')
  await client.end()
  return rows[0]!.count
}

async function documentsOfMongo({
  credentials: { username, password, host, port, database },
}: Database): Promise<number> {
  const client = new MongoClient(`mongodb://${username}:${password}@${host}:${port}/${database}`, {
    serverSelectionTimeoutMS: 5000,
  })
  try {
    await client.db().collection('plots').insertOne({ x: 1 })
    return await client.db().collection('plots').countDocuments()
  } finally {
    await client.close()
  }
}

/** Takes every connection that roles of users can get; the platform must still be able to connect. */
async function floodConnections(
  platform: Platform,
  { credentials: { username, password, host, port } }: Database,
): Promise<void> {
  // The platform's state is on another server.
  const intruder = new Client({ user: username, password, host, port, database: 'quarterdeck' })
  await expect(intruder.connect()).rejects.toMatchObject({ code: '3D000' })
  const clients: Client[] = []
  const names = Array.from({ length: 10 }, (_, at) => `flood_${at}`)
  let refused: string | undefined
  for (const name of names) {
    const { credentials } = (await platform.call('POST', 'database/sql', { name })).data as unknown as Database
    for (let count = 0; count < 20 && refused === undefined; count++) {
      const client = new Client({
        user: credentials.username,
        password: credentials.password,
        host,
        port,
        database: credentials.database,
      })
      client.on('error', () => undefined)
      await client.connect().then(
        () => clients.push(client),
        ({ code }: { code: string }) => (refused = code),
      )
    }
  }
  expect(refused).toBe('53300')
  expect(clients.length).toBeGreaterThan(100)
  expect((await platform.call('GET', 'health')).status).toBe(200)
  expect(
    await Promise.all(
      Array.from({ length: 30 }, () => platform.call('GET', 'deployments').then(({ status }) => status)),
    ),
  ).toEqual(Array(30).fill(200))
  expect(await listed(platform, 'sql')).toHaveLength(names.length + 1)
  for (const name of names) expect((await platform.call('DELETE', `database/sql/${name}`)).status).toBe(200)
}

/** Fills the server's lock table from one session: the platform keeps writing, and the session is ended. */
async function fillLocks(platform: Platform): Promise<void> {
  const { credentials } = (await platform.call('POST', 'database/sql', { name: 'locks' })).data as unknown as Database
  const { username, password, host, port, database } = credentials
  const client = new Client({ user: username, password, host, port, database })
  client.on('error', () => undefined)
  await client.connect()
  await expect(client.query('select pg_advisory_lock(at) from generate_series(1, 1000000) at')).rejects.toMatchObject({
    code: '53200',
  })
  expect((await platform.call('POST', 'invite-codes', { message: 'meanwhile' })).status).toBe(201)
  await until(
    () => platform.call('DELETE', 'database/sql/locks'),
    ({ status }) => status === 200,
  )
}

test('databases and their credentials survive a stop and a kill of the platform, and no server is left running', async () => {
  const data = join(directory(), 'data')
  const first = await start()
  await register(first)
  expect((await first.call('POST', 'database/sql', { name: 'plots' })).status).toBe(201)
  if (mongoPath !== undefined) expect((await first.call('POST', 'database/mongo', { name: 'plots' })).status).toBe(201)
  const sql = await listed(first, 'sql')
  const mongo = mongoPath === undefined ? [] : await listed(first, 'mongo')
  expect(await rowsOfSql(sql[0]!)).toBe(1)
  for (const database of mongo) expect(await documentsOfMongo(database)).toBe(1)
  expect(processesOf(join(data, 'mongo'))).toHaveLength(mongo.length)
  // Only the platform's user may read its passwords and data directory.
  expect(statSync(join(data, 'secret.key')).mode & 0o777).toBe(0o600)
  for (const path of mongo.length > 0 ? ['mongo'] : []) expect(statSync(join(data, path)).mode & 0o077).toBe(0)

  first.child.kill('SIGKILL')
  await first.exited
  await until(
    () => ['mongo', 'postgres', 'state'].flatMap((name) => processesOf(join(data, name))),
    (pids) => pids.length === 0,
  )

  const second = await start()
  expect((await listed(second, 'sql'))[0]!.credentials).toEqual(sql[0]!.credentials)
  expect(await rowsOfSql(sql[0]!)).toBe(2)
  for (const database of mongo) {
    await until(
      () => listed(second, 'mongo'),
      ([found]) => found?.tables === 1,
    )
    expect((await listed(second, 'mongo'))[0]!.credentials).toEqual(database.credentials)
    expect(await documentsOfMongo(database)).toBe(2)
  }
  await floodConnections(second, sql[0]!)
  await fillLocks(second)
  expect((await second.call('DELETE', 'database/sql/plots')).status).toBe(200)
  expect(await endProgram(second)).toBe(0)
  expect(['mongo', 'postgres', 'state'].flatMap((name) => processesOf(join(data, name)))).toEqual([])
  expect(first.output().stderr + second.output().stderr).toBe('')

  // Without its key file, or with another one, the platform reports that in one line, and no data is lost.
  const key = join(data, 'secret.key')
  copyFileSync(key, `${key}.backup`)
  writeFileSync(key, `${'ab'.repeat(32)}\n`)
  await expect(start()).rejects.toThrow('not the one that this state was written with')
  rmSync(key)
  await expect(start()).rejects.toThrow('is missing: restore it from a backup')
  copyFileSync(`${key}.backup`, key)
  const last = await start()
  expect(await listed(last, 'sql')).toEqual([])
  await endProgram(last)
})
