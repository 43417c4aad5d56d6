import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import pino from 'pino'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../src/platform/postgres/embeddedPostgres'
import { compilePrograms } from '../programs'

declare global {
  var testPostgres: { server: EmbeddedPostgres; directory: string } | undefined
}

/** Nothing of it outlives the run: a disk that is slow or busy is not waited for. */
async function forgetTheDisk(adminUrl: string): Promise<void> {
  const client = new Client(adminUrl)
  await client.connect()
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit'])
    await client.query(`alter system set ${setting} = off`)
  await client.query('select pg_reload_conf()')
  await client.end()
}

/** Compiles the programs, and starts one real PostgreSQL for all tests of a run; each test makes a database of its own in it. */
export default async function globalSetup(): Promise<void> {
  compilePrograms()
  const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-postgres-'))
  const server = await startEmbeddedPostgres(directory, 'databases', pino({ level: 'silent' }))
  globalThis.testPostgres = { server, directory }
  await forgetTheDisk(server.adminUrl)
  // By its port, so that a test can put something between, or name another one.
  const url = new URL(server.adminUrl)
  url.search = ''
  // Inherited by the workers.
  process.env.TEST_POSTGRES_URL = url.href
}
