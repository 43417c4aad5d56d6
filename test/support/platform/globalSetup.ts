import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import pino from 'pino'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../src/platform/postgres/embeddedPostgres'
import { migrateState } from '../../../src/platform/state/db'
import { compilePrograms } from '../programs'
import { MIGRATED_STATE } from './freshState'

declare global {
  var testPostgres: { server: EmbeddedPostgres; directory: string } | undefined
}

/** Turns off syncing to disk, because the data does not outlive the run, and creates the database of `freshState`. */
async function prepare(adminUrl: string): Promise<void> {
  const client = new Client(adminUrl)
  await client.connect()
  await client.query(`create database ${MIGRATED_STATE}`)
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit'])
    await client.query(`alter system set ${setting} = off`)
  await client.query('select pg_reload_conf()')
  await client.end()
}

/**
 * Compiles the programs, and starts one real PostgreSQL for the whole run, in which each test creates its own database.
 */
export default async function globalSetup(): Promise<void> {
  compilePrograms()
  const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-postgres-'))
  const server = await startEmbeddedPostgres(directory, 'databases', pino({ level: 'silent' }))
  globalThis.testPostgres = { server, directory }
  await prepare(server.adminUrl)
  // By port instead of socket, so that a test can insert a proxy or use another port.
  const url = new URL(server.adminUrl)
  url.search = ''
  // The workers inherit this.
  process.env.TEST_POSTGRES_URL = url.href
  url.pathname = MIGRATED_STATE
  await migrateState(url.href)
}
