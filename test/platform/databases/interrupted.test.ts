import { mkdtemp, rm } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import pino from 'pino'
import type { Database } from '../../../src/contract/database'
import { createDatabases, type Databases } from '../../../src/platform/databases/databases'
import { createMongo } from '../../../src/platform/databases/mongo/mongo'
import { openStateDatabase, type StateDatabase } from '../../../src/platform/state/db'
import { openSecrets, type Secrets } from '../../../src/platform/state/secrets'
import { breakableProxy, type BreakableProxy } from '../../support/platform/breakableProxy'
import { freshState, onServer, type FreshState } from '../../support/platform/freshState'
import { testPostgres } from '../../support/platform/startPlatform'

jest.setTimeout(180_000)

const silent = pino({ level: 'silent' })
let dataDir: string
let state: FreshState
/** The same state and server through a proxy that can be cut, which looks like a kill of the platform. */
let mortalState: StateDatabase
let proxy: BreakableProxy
let secrets: Secrets

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-test-'))
  state = await freshState()
  secrets = await openSecrets(dataDir, state.db)
  proxy = await breakableProxy({ host: '127.0.0.1', port: Number(new URL(state.url).port) })
  mortalState = await openStateDatabase(throughProxy(state.url))
})
afterAll(async () => {
  await mortalState.close()
  await proxy.close()
  await state.close()
  await rm(dataDir, { recursive: true, force: true })
})

function throughProxy(url: string): string {
  const through = new URL(url)
  through.port = String(proxy.port)
  return through.href
}

async function withService<Result>(
  { db, pool }: StateDatabase,
  url: string,
  work: (databases: Databases) => Promise<Result>,
): Promise<Result> {
  const servers = {
    sql: testPostgres({ url }),
    mongo: createMongo({ url: undefined, dataDir, path: '', secrets, log: silent }),
  }
  try {
    return await work(createDatabases({ db, pool, secrets, servers, log: silent }))
  } finally {
    await servers.sql.close()
  }
}
const healthy = <Result>(work: (databases: Databases) => Promise<Result>) =>
  withService(state, process.env.TEST_POSTGRES_URL!, work)
const mortal = <Result>(work: (databases: Databases) => Promise<Result>) =>
  withService(mortalState, throughProxy(process.env.TEST_POSTGRES_URL!), work)

async function onServerOf(name: string): Promise<{ role: boolean; database: boolean }> {
  let found = { role: false, database: false }
  await onServer(async (admin) => {
    const { rowCount: role } = await admin.query('select 1 from pg_roles where rolname = $1', [name])
    const { rowCount: database } = await admin.query('select 1 from pg_database where datname = $1', [name])
    found = { role: role === 1, database: database === 1 }
  })
  return found
}

async function canOpen({ username, password, host, port, database }: Database['credentials']): Promise<boolean> {
  const client = new Client({
    user: username,
    password,
    host,
    port: port === proxy.port ? Number(new URL(state.url).port) : port,
    database,
  })
  client.on('error', () => undefined)
  return client
    .connect()
    .then(() => client.end())
    .then(
      () => true,
      () => false,
    )
}

/** Repeats an operation on new databases, cut after the first message, then after the second, until it completes. */
async function breakEverywhere(
  prepare: (name: string) => Promise<Database | undefined>,
  attempt: (databases: Databases, name: string) => Promise<unknown>,
  check: (name: string, before: Database | undefined, after: Database | undefined) => Promise<void>,
): Promise<number> {
  for (let at = 1; ; at++) {
    const name = `cut_${at}_${randomBytes(4).toString('hex')}`
    const before = await prepare(name)
    const broke = await mortal(async (databases) => {
      // Opens its connections.
      await databases.list('sql')
      proxy.breakAfter(at)
      await attempt(databases, name).catch(() => undefined)
      return proxy.isBroken()
    })
    proxy.mend()
    const after = await healthy(async (databases) => {
      await databases.start()
      return (await databases.list('sql')).find((database) => database.name === name)
    })
    // A listed database exists and can be opened; no trace is left of an unlisted one.
    expect({ at, ...(await onServerOf(name)) }).toEqual({
      at,
      role: after !== undefined,
      database: after !== undefined,
    })
    if (after) expect({ at, opens: await canOpen(after.credentials) }).toEqual({ at, opens: true })
    await check(name, before, after)
    expect(await state.db.selectFrom('databases').selectAll().where('state', '!=', 'ready').execute()).toEqual([])
    await healthy((databases) => databases.remove('sql', name)).catch(() => undefined)
    if (!broke) return at
  }
}

test('security 47: a create interrupted at any message leaves nothing behind, and the name can be created again', async () => {
  const messages = await breakEverywhere(
    async () => undefined,
    (databases, name) => databases.create('sql', name),
    async (name, _before, after) => {
      if (!after)
        expect(await canOpen((await healthy((databases) => databases.create('sql', name))).credentials)).toBe(true)
    },
  )
  // Messages for lock, row, role, database, rights, login and row.
  expect(messages).toBeGreaterThan(12)
})

test('security 47: the next create of the name finishes an interrupted one without a restart of the platform', async () => {
  for (const at of [4, 7, 10, 12, 14, 16]) {
    const name = `again_${at}_${randomBytes(4).toString('hex')}`
    await mortal(async (databases) => {
      await databases.list('sql')
      proxy.breakAfter(at)
      await databases.create('sql', name).catch(() => undefined)
    })
    proxy.mend()
    const left = await state.db.selectFrom('databases').select('state').where('name', '=', name).execute()
    const created = await healthy((databases) => databases.create('sql', name)).catch(
      (error: { code: string }) => error.code,
    )
    if (typeof created === 'string')
      expect({ at, left, created }).toEqual({ at, left: [{ state: 'ready' }], created: 'NAME_TAKEN' })
    else expect({ at, opens: await canOpen(created.credentials) }).toEqual({ at, opens: true })
    await healthy((databases) => databases.remove('sql', name))
    expect(await onServerOf(name)).toEqual({ role: false, database: false })
  }
})

test('a reset interrupted at any message ends with exactly one password, which is listed and works', async () => {
  const messages = await breakEverywhere(
    (name) => healthy((databases) => databases.create('sql', name)),
    (databases, name) => databases.resetPassword('sql', name),
    async (_name, before, after) => {
      expect(after).toBeDefined()
      const isNew = after!.credentials.password !== before!.credentials.password
      expect(await canOpen(before!.credentials)).toBe(!isNew)
    },
  )
  expect(messages).toBeGreaterThan(6)
})

test('a delete interrupted at any message is either finished or was never begun', async () => {
  const seen = new Set<boolean>()
  await breakEverywhere(
    (name) => healthy((databases) => databases.create('sql', name)),
    (databases, name) => databases.remove('sql', name),
    async (_name, before, after) => {
      seen.add(after !== undefined)
      if (after) expect(after.credentials).toEqual(before!.credentials)
    },
  )
  expect(seen).toEqual(new Set([true, false]))
})
