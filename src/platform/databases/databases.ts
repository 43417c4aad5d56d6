import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import type { Database, DatabaseType } from '../../contract/database'
import { AppError } from '../errors'
import { tryAdvisoryLock } from '../state/advisoryLock'
import {
  deleteDatabase,
  findDatabase,
  insertDatabase,
  listDatabases,
  updateDatabase,
  type DatabaseRow,
} from '../state/databases'
import { isDuplicate, type Db } from '../state/db'
import type { Secrets } from '../state/secrets'
import type { DatabaseServer, DatabaseStats } from './databaseServer'
import { createConcurrencyLimit } from './concurrencyLimit'
import { physicalNameOf, randomPassword, usernameOf } from './databaseNames'

/** Each change holds a database connection, and the rest of the platform needs most of them. */
const PARALLEL_CHANGES = 4
/** How long to wait for the lock of a change in progress or of a killed platform. */
const LOCK_MS = 1000
const PURPOSE = 'database password'

export interface DatabaseParts {
  db: Db
  /** For locks, each of which needs a dedicated connection. */
  pool: Pool
  secrets: Secrets
  servers: Record<DatabaseType, DatabaseServer>
  log: Logger
}

/** Every call throws AppError UNAVAILABLE when its type's server is down, NOT_CONFIGURED when there is none. */
export interface Databases {
  /** Sorted by name, with credentials, current sizes and counts. What cannot be measured now is missing. */
  list(type: DatabaseType): Promise<Database[]>
  /** @throws AppError NAME_TAKEN, also if it was created outside the console; CONFLICT while it is being changed */
  create(type: DatabaseType, name: string): Promise<Database>
  /** Sets a new password and ends connections that use the old one. @throws AppError NOT_FOUND, CONFLICT */
  resetPassword(type: DatabaseType, name: string): Promise<Database>
  /** Ends open connections and deletes everything. @throws AppError NOT_FOUND, CONFLICT */
  remove(type: DatabaseType, name: string): Promise<void>
  /** Starts what must run and completes interrupted changes. Never throws: what fails is retried by the next call. */
  start(): Promise<void>
}

/**
 * Users' databases (decisions §8). Each change stores its intent, changes the server, and then marks the row as done,
 * so that an interrupted change can be completed from the row. An advisory lock lets one replica at a time change a
 * database.
 */
export function createDatabases({ db, pool, secrets, servers, log }: DatabaseParts): Databases {
  // One limit per type: a server that is down must not delay the other type.
  const limits = { sql: createConcurrencyLimit(PARALLEL_CHANGES), mongo: createConcurrencyLimit(PARALLEL_CHANGES) }

  /** Row ids of this platform's changes in progress, which must not be treated as interrupted. */
  const inProgress = new Set<string>()

  async function trackChange<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    inProgress.add(id)
    try {
      return await work()
    } finally {
      inProgress.delete(id)
    }
  }

  const wasInterrupted = ({ id, state }: DatabaseRow) => state !== 'ready' && !inProgress.has(id)

  /** @throws AppError CONFLICT if another change of the database holds the lock for longer than LOCK_MS */
  async function withDatabaseLock<Result>(
    type: DatabaseType,
    name: string,
    work: () => Promise<Result>,
  ): Promise<Result> {
    return limits[type](async () => {
      const client = await pool.connect()
      let failed = true
      try {
        const key = `database ${type} ${type === 'mongo' ? name.toLowerCase() : name}`
        if (!(await acquireLock(client, key)))
          throw new AppError('CONFLICT', `The database "${name}" is being changed at this moment. Try it again.`)
        try {
          return await work()
        } finally {
          // Ends the transaction that holds the lock. It contains no changes.
          await client.query('commit')
          failed = false
        }
      } finally {
        // Closing the connection releases its lock.
        client.release(failed)
      }
    })
  }

  async function find(type: DatabaseType, name: string): Promise<DatabaseRow> {
    const row = await findDatabase(db, type, name)
    if (row?.name !== name || row.state === 'creating')
      throw new AppError('NOT_FOUND', `There is no database named "${name}".`)
    return row
  }

  /** Must hold the lock. Completes an interrupted change: the row is ready or deleted afterwards. */
  async function completeChange(row: DatabaseRow): Promise<void> {
    const server = servers[row.type]
    if (row.state === 'resetting') {
      await server.setPassword(row, unseal(row))
      await updateDatabase(db, row.id, { state: 'ready' })
    } else if (row.state !== 'ready') {
      // The caller of an interrupted creation never got its result, so it is undone.
      await server.remove(row)
      await deleteDatabase(db, row.id)
    }
  }

  async function tryCompleteChange({ type, name }: DatabaseRow): Promise<void> {
    try {
      await withDatabaseLock(type, name, async () => {
        const row = await findDatabase(db, type, name)
        if (row) await completeChange(row)
      })
    } catch (error) {
      log.warn({ err: error, type, name }, 'a change of a database that was cut off could not be finished yet')
    }
  }

  /** Never throws. Markers on the server contain the row's id, so a new database of the same name is not affected. */
  async function tryUndoCreation(row: DatabaseRow): Promise<void> {
    try {
      await updateDatabase(db, row.id, { state: 'deleting' })
      await completeChange({ ...row, state: 'deleting' })
    } catch (error) {
      log.warn({ err: error, type: row.type, name: row.name }, 'a database that could not be created is removed later')
    }
  }

  const seal = (password: string, id: string) => secrets.seal(password, PURPOSE, id)
  const unseal = ({ id, password }: DatabaseRow) => secrets.unseal(password, PURPOSE, id)

  /** A row from another installation is shown without a password rather than not at all: a reset corrects it. */
  function readPassword(row: DatabaseRow): string {
    try {
      return unseal(row)
    } catch {
      log.warn(
        { type: row.type, name: row.name },
        'the password of a database cannot be read with this key file: reset it',
      )
      return ''
    }
  }

  async function open(type: DatabaseType, rows: DatabaseRow[]): Promise<void> {
    // Without its password nobody could sign in.
    await servers[type].open(
      rows
        .filter(isListed)
        .map((row) => ({ ...row, password: readPassword(row) }))
        .filter(({ password }) => password !== ''),
    )
  }

  async function describe(row: DatabaseRow, password: string, stats?: DatabaseStats): Promise<Database> {
    const address = await servers[row.type].address(row, password)
    return {
      name: row.name,
      ...stats,
      credentials: { username: row.username, password, database: row.physical_name, ...address },
    }
  }

  /** The change has succeeded, whether or not the database can be measured now. */
  async function describeFresh(row: DatabaseRow, password: string): Promise<Database> {
    const statsById = await servers[row.type].stats([row]).catch(() => undefined)
    return describe(row, password, statsById?.get(row.id))
  }

  /** A change that the server refuses with CONFLICT was not begun. Any other failure leaves it to be completed. */
  function revertIfRefused({ id, password }: DatabaseRow) {
    return async (error: unknown): Promise<never> => {
      if (error instanceof AppError && error.code === 'CONFLICT')
        await updateDatabase(db, id, { password, state: 'ready' })
      throw error
    }
  }

  return {
    async list(type) {
      let rows = await listDatabases(db, type)
      await open(type, rows)
      const statsById = await servers[type].stats(rows.filter(isListed))
      const left = rows.filter(wasInterrupted)
      if (left.length > 0) {
        await Promise.all(left.map(tryCompleteChange))
        rows = await listDatabases(db, type)
      }
      return Promise.all(rows.filter(isListed).map((row) => describe(row, readPassword(row), statsById.get(row.id))))
    },

    async create(type, name) {
      return withDatabaseLock(type, name, async () => {
        const before = await findDatabase(db, type, name)
        if (before) await completeChange(before)
        const id = randomUUID()
        const password = randomPassword()
        const row = {
          id,
          type,
          name,
          physical_name: physicalNameOf(name),
          username: usernameOf(name),
          password: seal(password, id),
          state: 'creating' as const,
        }
        return trackChange(id, async () => {
          await insertDatabase(db, row).catch((error: unknown) => {
            if (isDuplicate(error)) throw new AppError('NAME_TAKEN', nameTakenText(name, before))
            throw error
          })
          try {
            await servers[type].create(row, password)
          } catch (error) {
            const undone = tryUndoCreation({ ...row, created_at: new Date() })
            // A server that is down would only make the caller wait again.
            if (!(error instanceof AppError && error.status === 503)) await undone
            throw error
          }
          await updateDatabase(db, id, { state: 'ready' })
          return describeFresh({ ...row, created_at: new Date() }, password)
        })
      })
    },

    async resetPassword(type, name) {
      await find(type, name)
      return withDatabaseLock(type, name, async () => {
        const row = await find(type, name)
        if (row.state === 'deleting') throw new AppError('CONFLICT', `The database "${name}" is being deleted.`)
        const password = randomPassword()
        return trackChange(row.id, async () => {
          // From here on the new password counts, even if the server gets it later.
          await updateDatabase(db, row.id, { password: seal(password, row.id), state: 'resetting' })
          await servers[type].setPassword(row, password).catch(revertIfRefused(row))
          await updateDatabase(db, row.id, { state: 'ready' })
          return describeFresh(row, password)
        })
      })
    },

    async remove(type, name) {
      await find(type, name)
      await withDatabaseLock(type, name, async () => {
        const row = await find(type, name)
        await trackChange(row.id, async () => {
          await updateDatabase(db, row.id, { state: 'deleting' })
          await completeChange({ ...row, state: 'deleting' }).catch(revertIfRefused(row))
        })
      })
    },

    async start() {
      await Promise.all(
        (['sql', 'mongo'] as const).map(async (type) => {
          try {
            const rows = await listDatabases(db, type)
            if (rows.length > 0) await open(type, rows)
            await Promise.all(rows.filter(wasInterrupted).map(tryCompleteChange))
          } catch (error) {
            log.warn({ err: error, type }, 'the databases could not be brought up yet')
          }
        }),
      )
    },
  }
}

async function acquireLock(client: PoolClient, key: string): Promise<boolean> {
  for (const deadline = performance.now() + LOCK_MS; ; await delay(50)) {
    const isTaken = await tryAdvisoryLock(client, key)
    if (isTaken || performance.now() > deadline) return isTaken
  }
}

function isListed({ state }: DatabaseRow): boolean {
  return state === 'ready' || state === 'resetting'
}

function nameTakenText(name: string, existing: DatabaseRow | undefined): string {
  if (existing && existing.name !== name)
    return `There is a database named "${existing.name}", and MongoDB has no two whose names differ only in case. Choose another name.`
  return `A database named "${name}" already exists.`
}
