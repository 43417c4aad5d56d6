import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AppError, StartError } from '../errors'
import type { DatabaseIdentity } from '../state/db'
import type { EmbeddedPostgres } from '../postgres/embeddedPostgres'
import type { UsersPostgres } from '../postgres/usersPostgres'
import type { DatabaseServer } from './databaseServer'
import { createPostgres } from './postgres'

/** How long a call waits for a server that has data: after a crash of the machine, its recovery may take minutes. */
const START_TIMEOUT_MS = 4000

export interface SqlServerParts {
  /** An administrator's URL (`QUARTERDECK_SQL_URL`); undefined: the embedded PostgreSQL. */
  url: string | undefined
  /** Undefined for a replica, because other replicas could not reach its databases. */
  embedded: UsersPostgres | undefined
  /** The platform's own database, which users' roles must not reach. */
  state: DatabaseIdentity | undefined
  log: Logger
}

/** Creates the server of users' SQL databases. The embedded PostgreSQL is started when it has databases or gets one. */
export function createSqlServer({ url, embedded, state, log }: SqlServerParts): DatabaseServer {
  if (url !== undefined) {
    return createPostgres({
      url: async () => url,
      title: 'The PostgreSQL server of QUARTERDECK_SQL_URL',
      remedy: 'Start it or correct the setting.',
      state,
      log,
    })
  }
  if (!embedded) return notConfigured()
  const server = createPostgres({
    url: async () => {
      try {
        return (await startInTime(embedded)).adminUrl
      } catch (error) {
        if (error instanceof AppError) throw error
        if (error instanceof StartError && /No space left on device|Disk quota exceeded/.test(error.message))
          throw new AppError(
            'DISK_FULL',
            'The embedded PostgreSQL could not be started: the disk of the server is full.',
          )
        throw new AppError(
          'UNAVAILABLE',
          'The embedded PostgreSQL could not be started. See the platform’s log for the reason, or set QUARTERDECK_SQL_URL to use another server.',
        )
      }
    },
    endSessions: async (pids) => (await embedded.start()).endUsersSessions(pids),
    title: 'The embedded PostgreSQL',
    remedy: 'It restarts automatically.',
    state,
    log,
  })
  return {
    ...server,
    async open() {
      // Not awaited: the call that needs the server waits for it and reports a failure, which is logged.
      if (embedded.exists()) embedded.start().catch(() => undefined)
    },
    stats: async (databases) => (databases.length === 0 && !embedded.exists() ? new Map() : server.stats(databases)),
  }
}

/**
 * Starts the server. The wait is limited, except for the first start, which creates its data.
 * @throws StartError; AppError UNAVAILABLE after the wait, while the start goes on
 */
async function startInTime(embedded: UsersPostgres): Promise<EmbeddedPostgres> {
  if (!embedded.exists()) return embedded.start()
  const late = delay(START_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new AppError('UNAVAILABLE', 'The embedded PostgreSQL is starting. Try again in a moment.')
  })
  return Promise.race([embedded.start(), late])
}

function notConfigured(): DatabaseServer {
  const fail = async () => {
    throw new AppError(
      'NOT_CONFIGURED',
      'There is no PostgreSQL server for databases. Set QUARTERDECK_SQL_URL to an administrator’s URL of a server.',
    )
  }
  return {
    open: fail,
    address: fail,
    stats: fail,
    create: fail,
    setPassword: fail,
    remove: fail,
    close: async () => undefined,
  }
}
