import { randomBytes } from 'node:crypto'
import { escapeLiteral } from 'pg'
import type { Logger } from 'pino'
import { startEmbeddedPostgres } from './embeddedPostgres'
import { copyState, dropState, hasState, STATE_NAME, type Migrate } from './moveState'
import { withAdministrator, withDatabase } from './postgresAdministrator'
import type { UsersPostgres } from './usersPostgres'

/** The name of the database until it is complete. */
const UNFINISHED_NAME = `${STATE_NAME}_new`
/** The comment of a database that was moved, until the copy in the server of users' databases is removed. */
const MOVED = 'moved'

export interface StatePostgres {
  /** The URL of the platform's database, as the role that owns only that. Valid until the server is stopped. */
  readonly url: string
  stop(): Promise<void>
}

export interface StateParts {
  dataDir: string
  users: UsersPostgres
  migrate: Migrate
  log: Logger
}

/**
 * Starts the embedded PostgreSQL of the platform's state. Earlier versions kept the state in the server of users'
 * databases: the first start of this version moves it.
 * @throws StartError when the server cannot be created or started, or the state cannot be moved
 */
export async function startStatePostgres(parts: StateParts): Promise<StatePostgres> {
  const server = await startEmbeddedPostgres(parts.dataDir, 'state', parts.log)
  try {
    // Only this process needs the password, so it is not stored.
    const password = randomBytes(24).toString('base64url')
    await setPassword(server.adminUrl, password)
    if (!(await hasState(server.adminUrl))) await createDatabase(parts, server.adminUrl, password)
    await dropEarlierState(parts, server.adminUrl).catch((error: unknown) =>
      parts.log.warn(
        { err: error },
        'failed to remove the copy of the state that an earlier version used; the next start tries again',
      ),
    )
    return { url: urlOfState(server.adminUrl, STATE_NAME, password), stop: () => server.stop() }
  } catch (error) {
    await server.stop()
    throw error
  }
}

async function setPassword(adminUrl: string, password: string): Promise<void> {
  await withAdministrator(adminUrl, async (admin) => {
    const { rowCount } = await admin.query('select 1 from pg_roles where rolname = $1', [STATE_NAME])
    await admin.query(`${rowCount ? 'alter' : 'create'} role ${STATE_NAME} login password ${escapeLiteral(password)}`)
  })
}

/** The database gets its final name last, so that an interrupted start is repeated. */
async function createDatabase(
  { dataDir, users, migrate, log }: StateParts,
  adminUrl: string,
  password: string,
): Promise<void> {
  await withAdministrator(adminUrl, async (admin) => {
    await admin.query(`drop database if exists ${UNFINISHED_NAME}`)
    await admin.query(`create database ${UNFINISHED_NAME} owner ${STATE_NAME}`)
    await admin.query(`revoke all on database ${UNFINISHED_NAME} from public`)
  })
  const earlier = users.exists() ? (await users.start()).adminUrl : undefined
  const isMoved = earlier !== undefined && (await hasState(earlier))
  if (isMoved) {
    log.info('moving the platform’s state to a PostgreSQL server of its own')
    await copyState({
      dataDir,
      from: earlier,
      to: urlOfState(adminUrl, UNFINISHED_NAME, password),
      toAsAdmin: withDatabase(adminUrl, UNFINISHED_NAME),
      migrate,
    })
  }
  await withAdministrator(adminUrl, async (admin) => {
    if (isMoved) await admin.query(`comment on database ${UNFINISHED_NAME} is ${escapeLiteral(MOVED)}`)
    await admin.query(`alter database ${UNFINISHED_NAME} rename to ${STATE_NAME}`)
  })
}

/** Removes what a move left on the server of users' databases. Does not start that server if nothing was moved. */
async function dropEarlierState({ users }: StateParts, adminUrl: string): Promise<void> {
  await withAdministrator(adminUrl, async (admin) => {
    const { rowCount } = await admin.query(
      `select 1 from pg_database where datname = $1 and shobj_description(oid, 'pg_database') = $2`,
      [STATE_NAME, MOVED],
    )
    if (!rowCount) return
    await dropState((await users.start()).adminUrl)
    await admin.query(`comment on database ${STATE_NAME} is null`)
  })
}

function urlOfState(adminUrl: string, database: string, password: string): string {
  const url = new URL(withDatabase(adminUrl, database))
  url.username = STATE_NAME
  url.password = password
  return url.href
}
