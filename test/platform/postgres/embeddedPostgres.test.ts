import { once } from 'node:events'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import pino from 'pino'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../src/platform/postgres/embeddedPostgres'
import { withAdministrator } from '../../../src/platform/postgres/postgresAdministrator'
import { withClient } from '../../support/platform/postgresClients'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

jest.setTimeout(120_000)

const log = pino({ level: 'silent' })
const directory = useTemporaryDirectory()
let postgres: EmbeddedPostgres
let impostor = createServer()
afterEach(async () => {
  impostor.close()
  await postgres.stop()
})

/** @returns the first value of the result */
const query = (url: string, text: string): Promise<unknown> =>
  withClient(url, async (client) => (await client.query<unknown[]>({ text, rowMode: 'array' })).rows[0]?.[0])

const roleAt = (url: string) => query(url, 'select current_user')

test('security: a program that takes the port of the stopped embedded server gets no data, and the server moves', async () => {
  const dataDir = join(directory(), 'data')
  mkdirSync(dataDir, { mode: 0o711 })
  postgres = await startEmbeddedPostgres(dataDir, 'databases', log)
  const { adminUrl } = postgres
  const port = Number(new URL(adminUrl).port)
  expect(await roleAt(adminUrl)).toBe('postgres')
  expect(statSync(join(dataDir, 'postgres.sockets')).mode & 0o777).toBe(0o700)

  const heard = jest.fn()
  impostor = createServer((socket) => socket.on('error', () => undefined).on('data', heard))
  process.kill(Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]), 'SIGINT')
  await until(
    () =>
      new Promise<boolean>((resolve) => {
        const failed = () => {
          impostor.removeAllListeners('listening')
          resolve(false)
        }
        impostor.once('error', failed).listen(port, '127.0.0.1', () => {
          impostor.off('error', failed)
          resolve(true)
        })
      }),
  )
  // By its original address, which every connection of the platform uses.
  expect(await until(() => roleAt(adminUrl).catch(() => undefined))).toBe('postgres')
  expect(Number(new URL(postgres.adminUrl).port)).not.toBe(port)
  expect(await roleAt(postgres.adminUrl)).toBe('postgres')
  expect(heard).not.toHaveBeenCalled()
})

test('a server whose port was taken between two starts moves to another port and keeps its data', async () => {
  postgres = await startEmbeddedPostgres(directory(), 'databases', log)
  await query(postgres.adminUrl, "create table facts as select 'yes' as value")
  const { port } = new URL(postgres.adminUrl)
  await postgres.stop()

  impostor = createServer().listen(Number(port), '127.0.0.1')
  await once(impostor, 'listening')
  postgres = await startEmbeddedPostgres(directory(), 'databases', log)
  expect(new URL(postgres.adminUrl).port).not.toBe(port)
  expect(await query(postgres.adminUrl, 'select value from facts')).toBe('yes')
})

test('a start that fails leaves no directory open, however long the path of the data directory is', async () => {
  const dataDir = join(directory(), 'long'.repeat(25))
  mkdirSync(dataDir, { mode: 0o711 })
  const first = await startEmbeddedPostgres(dataDir, 'databases', log)
  await first.stop()
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(dataDir)
      } catch {
        // The descriptor of this listing is closed already.
        return false
      }
    })
  expect(openFiles()).toEqual([])

  const settings = join(dataDir, 'postgres/postgresql.conf')
  const valid = readFileSync(settings, 'utf8')
  appendFileSync(settings, '\nnonsense = 1\n')
  await expect(startEmbeddedPostgres(dataDir, 'databases', log)).rejects.toThrow('contains errors')
  expect(openFiles()).toEqual([])
  writeFileSync(settings, valid)
  postgres = await startEmbeddedPostgres(dataDir, 'databases', log)
})

test('a server starts in a directory with quotes in its path, and PGSSLMODE is not for it', async () => {
  const dataDir = join(directory(), `a "quoted" 'path'`)
  mkdirSync(dataDir, { mode: 0o711 })
  process.env.PGSSLMODE = 'require'
  try {
    postgres = await startEmbeddedPostgres(dataDir, 'state', log)
    expect(await withAdministrator(postgres.adminUrl, async () => 'connected')).toBe('connected')
  } finally {
    delete process.env.PGSSLMODE
  }
})
