import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import pino from 'pino'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../src/platform/postgres/embeddedPostgres'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

jest.setTimeout(120_000)

let postgres: EmbeddedPostgres
let impostor: Server
const directory = useTemporaryDirectory()
afterAll(async () => {
  impostor.close()
  await postgres.stop()
})

async function answers(url: string): Promise<unknown> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<{ role: string }>('select current_user as role')).rows[0]?.role
  } finally {
    await client.end().catch(() => undefined)
  }
}

test('security: a program that takes the port of the stopped embedded server gets no data, and the server moves', async () => {
  const dataDir = join(directory(), 'data')
  mkdirSync(dataDir, { mode: 0o711 })
  postgres = await startEmbeddedPostgres(dataDir, 'databases', pino({ level: 'silent' }))
  const { adminUrl } = postgres
  const port = Number(new URL(adminUrl).port)
  expect(await answers(adminUrl)).toBe('postgres')
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
  expect(await until(() => answers(adminUrl).catch(() => undefined))).toBe('postgres')
  expect(Number(new URL(postgres.adminUrl).port)).not.toBe(port)
  expect(await answers(postgres.adminUrl)).toBe('postgres')
  expect(heard).not.toHaveBeenCalled()
})
