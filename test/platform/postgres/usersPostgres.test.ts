import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import pino from 'pino'
import { createSqlServer } from '../../../src/platform/databases/sqlServer'
import type { DatabaseServer } from '../../../src/platform/databases/databaseServer'
import { createUsersPostgres, type UsersPostgres } from '../../../src/platform/postgres/usersPostgres'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

jest.setTimeout(120_000)

/** Version 3.0, used since PostgreSQL 7.4. */
const PROTOCOL_VERSION = 196_608

const logged: string[] = []
const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) })
const directory = useTemporaryDirectory()
afterAll(async () => {
  await sql.close()
  await users.stop()
})
let users: UsersPostgres
let sql: DatabaseServer

beforeAll(() => {
  const dataDir = join(directory(), 'data')
  mkdirSync(dataDir, { mode: 0o711 })
  users = createUsersPostgres(dataDir, log)
  sql = createSqlServer({ url: undefined, embedded: users, state: undefined, log })
})

const databaseOf = (name: string) => ({ id: randomUUID(), physical_name: name, username: name })

async function createAs(name: string): Promise<Client> {
  await sql.create(databaseOf(name), 'secret')
  const client = new Client({ host: '127.0.0.1', port: users.port()!, user: name, password: 'secret', database: name })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

test('security: a session cannot write to the server log, which the platform reads', async () => {
  const client = await createAs('talkative')
  for (const statement of [
    "do $$ begin raise warning 'WRITTEN by me'; raise log 'WRITTEN by me'; end $$",
    "set debug_print_plan = on; select 'WRITTEN by me'",
  ])
    await client.query(statement)
  await expect(client.query("select 'WRITTEN by me' from nothing")).rejects.toThrow('nothing')
  await expect(client.query('alter role talkative reset log_min_messages')).rejects.toThrow('permission denied')
  await expect(client.query("alter database talkative set log_min_messages = 'log'")).rejects.toThrow(
    'permission denied',
  )
  await client.end()
  expect(logged.filter((line) => line.includes('ready to accept connections'))).toHaveLength(1)
  expect(logged.filter((line) => line.includes('WRITTEN'))).toEqual([])
})

test('security: shared memory of sessions is in files, not in /dev/shm, which no session limit counts', () => {
  const server = readFileSync(join(directory(), 'data/postgres/postmaster.pid'), 'utf8').split('\n')[0]
  const maps = readFileSync(`/proc/${server}/maps`, 'utf8')
  expect(maps).toContain('/pg_dynshmem/')
  expect(maps).not.toContain('/dev/shm/PostgreSQL.')
})

test('security: an unfinished sign-in does not block the deletion of a database', async () => {
  const database = databaseOf('gone')
  await sql.create(database, 'secret')
  const socket = connect(users.port()!, '127.0.0.1').on('error', () => undefined)
  const names = Buffer.from('user\0nobody\0\0')
  const header = Buffer.alloc(8)
  header.writeInt32BE(header.length + names.length)
  header.writeInt32BE(PROTOCOL_VERSION, 4)
  socket.write(Buffer.concat([header, names]))
  await once(socket, 'data')
  await sql.remove(database)
  socket.destroy()
})
