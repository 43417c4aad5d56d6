import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Database, DatabaseType } from '../../contract/database'
import { createSharedRead } from '../concurrency/sharedRead'
import { AppError } from '../errors'
import {
  findDatabase,
  insertDatabase,
  listDatabases,
  updateDatabase,
  type DatabaseRow,
  type NewDatabaseRow,
} from '../state/databases'
import { isDuplicate, type Db } from '../state/db'
import type { Secrets } from '../state/secrets'
import { createDatabaseChanges } from './databaseChanges'
import { createDatabaseLock } from './databaseLock'
import { createDatabasePasswords } from './databasePasswords'
import type { DatabaseServer, DatabaseStats } from './databaseServer'
import { physicalNameOf, randomPassword, usernameOf } from './databaseNames'

/** Limit of databases of a type: each listing measures all of them. */
const MAX_DATABASES = 500
/** How long a listing waits for interrupted changes, which are completed all the same. */
const COMPLETE_MS = 4000

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
  const passwords = createDatabasePasswords(secrets, log)
  const withLock = createDatabaseLock(pool)
  const changes = createDatabaseChanges({ db, servers, passwords, withLock, log })

  /** Starts what the databases of a type need. */
  async function open(type: DatabaseType, rows: DatabaseRow[]): Promise<void> {
    const listed = rows.filter(isListed).map((row) => ({ ...row, password: passwords.tryUnseal(row) }))
    // Omits databases whose password cannot be read, because nobody could sign in.
    await servers[type].open(listed.filter(({ password }) => password !== ''))
  }

  async function list(type: DatabaseType): Promise<Database[]> {
    let rows = await listDatabases(db, type)
    await open(type, rows)
    const statsById = await servers[type].stats(rows.filter(isListed))
    const left = rows.filter(changes.wasInterrupted)
    if (left.length > 0) {
      await Promise.race([Promise.all(left.map(changes.tryComplete)), delay(COMPLETE_MS, undefined, { ref: false })])
      rows = await listDatabases(db, type)
    }
    return Promise.all(
      rows.filter(isListed).map((row) => describe(servers[type], row, passwords.tryUnseal(row), statsById.get(row.id))),
    )
  }

  const lists = {
    sql: createSharedRead(() => list('sql')),
    mongo: createSharedRead(() => list('mongo')),
  }

  return {
    list: (type) => lists[type](),

    async create(type, name) {
      return withLock(type, name, async () => {
        const before = await findDatabase(db, type, name)
        if (before) await changes.complete(before)
        const password = randomPassword()
        const row = newRow(type, name, (id) => passwords.seal(password, id))
        return changes.track(row.id, async () => {
          await insert(db, row, before)
          try {
            await servers[type].create(row, password)
          } catch (error) {
            const undone = changes.tryUndoCreation(row)
            // A server that is down would only make the caller wait again.
            if (!(error instanceof AppError && error.status === 503)) await undone
            throw error
          }
          await updateDatabase(db, row.id, { state: 'ready' })
          return describeFresh(servers[type], row, password)
        })
      })
    },

    async resetPassword(type, name) {
      await find(db, type, name)
      return withLock(type, name, async () => {
        const row = await find(db, type, name)
        if (row.state === 'deleting') throw new AppError('CONFLICT', `The database "${name}" is being deleted.`)
        const password = randomPassword()
        return changes.track(row.id, async () => {
          // From here on the new password is valid, even if the server gets it later.
          await updateDatabase(db, row.id, { password: passwords.seal(password, row.id), state: 'resetting' })
          await servers[type].setPassword(row, password).catch(changes.revertIfRefused(row))
          await updateDatabase(db, row.id, { state: 'ready' })
          return describeFresh(servers[type], row, password)
        })
      })
    },

    async remove(type, name) {
      await find(db, type, name)
      await withLock(type, name, async () => {
        const row = await find(db, type, name)
        await changes.track(row.id, async () => {
          await updateDatabase(db, row.id, { state: 'deleting' })
          await changes.complete({ ...row, state: 'deleting' }).catch(changes.revertIfRefused(row))
        })
      })
    },

    async start() {
      await Promise.all(
        (['sql', 'mongo'] as const).map(async (type) => {
          try {
            const rows = await listDatabases(db, type)
            if (rows.length > 0) await open(type, rows)
            await Promise.all(rows.filter(changes.wasInterrupted).map(changes.tryComplete))
          } catch (error) {
            log.warn({ err: error, type }, 'failed to start the databases; the next call retries it')
          }
        }),
      )
    },
  }
}

/** @throws AppError NOT_FOUND */
async function find(db: Db, type: DatabaseType, name: string): Promise<DatabaseRow> {
  const row = await findDatabase(db, type, name)
  if (row?.name !== name || row.state === 'creating')
    throw new AppError('NOT_FOUND', `There is no database named "${name}".`)
  return row
}

function newRow(type: DatabaseType, name: string, seal: (id: string) => string): NewDatabaseRow {
  const id = randomUUID()
  return {
    id,
    type,
    name,
    physical_name: physicalNameOf(name),
    username: usernameOf(name),
    password: seal(id),
    state: 'creating',
  }
}

/**
 * @param before the existing row with this name; for MongoDB, the case may differ
 * @throws AppError NAME_TAKEN, CONFLICT
 */
async function insert(db: Db, row: NewDatabaseRow, before: DatabaseRow | undefined): Promise<void> {
  const isInserted = await insertDatabase(db, row, MAX_DATABASES).catch((error: unknown) => {
    if (isDuplicate(error)) throw new AppError('NAME_TAKEN', nameTakenText(row, before))
    throw error
  })
  if (!isInserted)
    throw new AppError('CONFLICT', `The limit of ${MAX_DATABASES} databases is reached. Delete a database first.`)
}

async function describe(
  server: DatabaseServer,
  row: NewDatabaseRow,
  password: string,
  stats?: DatabaseStats,
): Promise<Database> {
  const address = await server.address(row, password)
  return {
    name: row.name,
    ...stats,
    credentials: { username: row.username, password, database: row.physical_name, ...address },
  }
}

/** The change has succeeded, whether or not the database can be measured now. */
async function describeFresh(server: DatabaseServer, row: NewDatabaseRow, password: string): Promise<Database> {
  const statsById = await server.stats([row]).catch(() => undefined)
  return describe(server, row, password, statsById?.get(row.id))
}

function isListed({ state }: DatabaseRow): boolean {
  return state === 'ready' || state === 'resetting'
}

function nameTakenText({ name, physical_name }: NewDatabaseRow, existing: DatabaseRow | undefined): string {
  if (!existing && physical_name !== name)
    return `The server cannot use this name in full, and the name "${physical_name}" that it would use instead exists already. Choose another name.`
  if (existing && existing.name !== name)
    return `A database named "${existing.name}" already exists, and MongoDB does not allow names that differ only in case. Choose another name.`
  return `A database named "${name}" already exists.`
}
