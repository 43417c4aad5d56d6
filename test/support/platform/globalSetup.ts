import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../src/platform/state/embeddedPostgres'

declare global {
  var testPostgres: { server: EmbeddedPostgres; directory: string } | undefined
}

/** One real PostgreSQL for all tests of a run; each test makes a database of its own in it. */
export default async function globalSetup(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-postgres-'))
  const server = await startEmbeddedPostgres(directory, pino({ level: 'silent' }))
  globalThis.testPostgres = { server, directory }
  // Inherited by the workers.
  process.env.TEST_POSTGRES_URL = server.adminUrl
}
