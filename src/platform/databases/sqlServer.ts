import type { Logger } from 'pino'
import { AppError } from '../errors'
import type { DatabaseIdentity } from '../state/db'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../postgres/embeddedPostgres'
import type { DatabaseServer } from './databaseServer'
import { createPostgres } from './postgres'

export interface SqlServerParts {
  /** An administrator's URL (`QUARTERDECK_SQL_URL`); undefined: the embedded PostgreSQL. */
  url: string | undefined
  dataDir: string
  /** The embedded PostgreSQL, if it runs already because it holds the platform's state. */
  running: EmbeddedPostgres | undefined
  /** The platform's own database, which users' roles must not reach. */
  state: DatabaseIdentity | undefined
  log: Logger
}

/** Creates the server of users' SQL databases. `close` stops an embedded PostgreSQL that it has started. */
export function createSqlServer({ url, dataDir, running, state, log }: SqlServerParts): DatabaseServer {
  if (url !== undefined) {
    return createPostgres({
      url: async () => url,
      title: 'The PostgreSQL server of QUARTERDECK_SQL_URL',
      remedy: 'Start it or correct the setting.',
      state,
      log,
    })
  }
  // A failure here does not prevent the platform's start.
  const starting = running ? Promise.resolve(running) : startEmbeddedPostgres(dataDir, log)
  starting.catch((error: unknown) => log.error({ err: error }, 'failed to start the embedded PostgreSQL'))
  const server = createPostgres({
    url: async () => {
      const postgres = await starting.catch(() => undefined)
      if (!postgres)
        throw new AppError(
          'UNAVAILABLE',
          'The embedded PostgreSQL could not be started. See the platform’s log for the reason, or set QUARTERDECK_SQL_URL to use another server.',
        )
      return postgres.adminUrl
    },
    title: 'The embedded PostgreSQL',
    remedy: 'It restarts automatically.',
    state,
    log,
  })
  if (running) return server
  return {
    ...server,
    async close() {
      await server.close()
      const postgres = await starting.catch(() => undefined)
      await postgres?.stop()
    },
  }
}
