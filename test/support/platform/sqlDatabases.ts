import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import type { Database } from '../../../src/contract/database'
import { usePlatform, type Answer } from './startPlatform'

/** Makes names unique, because all tests of a run share the server. */
export const unique = (text: string): string => `${text}_${randomBytes(4).toString('hex')}`

/** The database in the response to a call. */
export const databaseOf = ({ body }: Answer): Database => body.data as unknown as Database

/** Starts a platform for the tests of a file, with a user who makes the calls about SQL databases. */
export function useSqlDatabases() {
  // Dropping a database waits for a checkpoint, which is slow on a busy disk.
  jest.setTimeout(90_000)
  const { platform, account: user } = usePlatform('plugin-author')

  const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', name = '', body?: unknown): Promise<Answer> =>
    platform().call(method, `/api/database/sql${name && `/${name}`}`, { token: user().token, body })

  return {
    platform,
    user,
    call,
    async create(this: void, name: string): Promise<Database> {
      const answer = await call('POST', '', { name })
      expect(answer.status).toBe(201)
      return databaseOf(answer)
    },
    /** The database as the list has it; undefined if the list does not contain it. */
    async listed(this: void, name: string): Promise<Database | undefined> {
      const { status, body } = await call('GET')
      expect(status).toBe(200)
      return (body.data.databases as Database[]).find((database) => database.name === name)
    },
  }
}

/** Connects as any client would, with the credentials that the console shows. */
export async function connect(
  { credentials: { username, password, host, port, database } }: Database,
  { timeoutMs, ...change }: { database?: string; password?: string; timeoutMs?: number } = {},
): Promise<Client> {
  const client = new Client({
    user: username,
    password,
    host,
    port,
    database,
    connectionTimeoutMillis: timeoutMs,
    ...change,
  })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** Runs work on a connection with the credentials of a database. */
export async function as<Result>(database: Database, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = await connect(database)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The error code with which work fails; `it worked` if it does not. */
export const codeOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => 'it worked',
    ({ code }: { code?: string }) => code,
  )
