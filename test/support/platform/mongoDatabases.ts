import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import pino from 'pino'
import type { Database } from '../../../src/contract/database'
import type { DatabaseServer } from '../../../src/platform/databases/databaseServer'
import { createMongo } from '../../../src/platform/databases/mongo/mongo'
import { openSecrets } from '../../../src/platform/state/secrets'
import { freshState, type FreshState } from './freshState'
import { mongoPath } from './mongoPath'
import { processesOf } from './processesOf'
import { usePlatform } from './startPlatform'

/** Starts a platform with a MongoDB server for the tests of a file, with a user who makes the calls. */
export function useMongoDatabases() {
  jest.setTimeout(90_000)
  let dataDir: string
  let state: FreshState
  let mongo: DatabaseServer
  const logged: string[] = []
  const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) })

  /** @param more another directory for the server's data, or PATH to its program */
  const open = async (more: { dataDir?: string; path?: string } = {}): Promise<DatabaseServer> =>
    createMongo({
      url: undefined,
      dataDir,
      path: mongoPath ?? '',
      secrets: await openSecrets(dataDir, state.db),
      log,
      ...more,
    })

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-mongo-'))
    state = await freshState()
    mongo = await open()
  })
  const { platform, account: user } = usePlatform('plugin-author', () => ({ mongo }))
  afterAll(async () => {
    await state.close()
    expect(processesOf(dataDir)).toEqual([])
    await rm(dataDir, { recursive: true, force: true })
  })

  const call = (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    name = '',
    body?: unknown,
    at = platform(),
    token = user().token,
  ) => at.call(method, `/api/database/mongo${name && `/${name}`}`, { token, body })

  return {
    platform,
    user,
    mongo: () => mongo,
    dataDir: () => dataDir,
    /** What the server and its supervision have logged. */
    logged,
    open,
    call,
    async create(this: void, name: string): Promise<Database> {
      const answer = await call('POST', '', { name })
      expect(answer).toMatchObject({ status: 201 })
      return answer.body.data as unknown as Database
    },
    /** The database as the list has it; undefined if the list does not contain it. */
    async listed(this: void, name: string): Promise<Database | undefined> {
      const { status, body } = await call('GET')
      expect(status).toBe(200)
      return (body.data.databases as Database[]).find((database) => database.name === name)
    },
  }
}

/** The connection string as the console builds it, without options. */
export function urlOf(
  { credentials: { username, password, host, port, database } }: Database,
  change: { password?: string; port?: number } = {},
): string {
  return `mongodb://${username}:${change.password ?? password}@${host}:${change.port ?? port}/${database}`
}

/** Runs work on a connection. */
export async function as<Result>(url: string, work: (client: MongoClient) => Promise<Result>): Promise<Result> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 3000 })
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** Stores one document, and counts the documents. */
export const store = (url: string) => as(url, (client) => client.db().collection('t').insertOne({ x: 1 }))
export const storedIn = (url: string) => as(url, (client) => client.db().collection('t').countDocuments())

/** The error code with which work fails; `it worked` if it does not. */
export const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'it worked',
    ({ code }: { code?: number }) => code,
  )
export const trySignIn = (url: string) => codeOf(as(url, (client) => client.db().collection('any').findOne()))
