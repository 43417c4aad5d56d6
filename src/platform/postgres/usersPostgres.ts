import type { Logger } from 'pino'
import { hasEmbeddedPostgres, startEmbeddedPostgres, type EmbeddedPostgres } from './embeddedPostgres'
import { watchLocks } from './lockWatch'
import { withAdministrator } from './postgresAdministrator'

/** The embedded PostgreSQL of users' databases, which is started when it is needed. */
export interface UsersPostgres {
  /** Whether the server has data, because a database was created at some time. */
  exists(): boolean
  /**
   * Starts the server once, and creates it if necessary. After a failure the next call tries again. @throws StartError
   */
  start(): Promise<EmbeddedPostgres>
  /** The port that users connect to; undefined before the start. */
  port(): number | undefined
  stop(): Promise<void>
}

export function createUsersPostgres(dataDir: string, log: Logger): UsersPostgres {
  let starting: Promise<EmbeddedPostgres> | undefined
  let running: EmbeddedPostgres | undefined
  let stopWatch: (() => Promise<void>) | undefined
  let isStopped = false

  async function start(): Promise<EmbeddedPostgres> {
    try {
      const postgres = await startEmbeddedPostgres(dataDir, 'databases', log)
      stopWatch = watchLocks(postgres, log)
      // A failure does not prevent the start: the setting persists on the server, and the next start tries again.
      await setUpSessions(postgres.adminUrl).catch((error: unknown) =>
        log.warn({ err: error }, 'failed to set up the sessions of the embedded PostgreSQL'),
      )
      running = postgres
      return postgres
    } catch (error) {
      starting = undefined
      log.error({ err: error }, 'failed to start the embedded PostgreSQL of users’ databases')
      throw error
    }
  }

  return {
    exists: () => hasEmbeddedPostgres(dataDir, 'databases'),
    async start() {
      if (isStopped) throw new Error('The platform is shutting down.')
      return (starting ??= start())
    },
    port: () => running && Number(new URL(running.adminUrl).port),
    async stop() {
      isStopped = true
      const postgres = await starting?.catch(() => undefined)
      await stopWatch?.()
      await postgres?.stop()
    },
  }
}

/**
 * Sessions may write any text to the server's log, in any amount, and the platform reads that log. Only superusers may
 * change this setting, which does not apply to the server's own processes. The server's `lock_timeout` is for sessions
 * that are being opened: settings of roles apply after that.
 */
async function setUpSessions(adminUrl: string): Promise<void> {
  await withAdministrator(adminUrl, (admin) =>
    admin.query("alter role all set log_min_messages = 'fatal'; alter role all set lock_timeout = 0"),
  )
}
