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
import type { DatabaseServer, Measure } from './databaseServer'
import { createLimiter } from './limiter'
import { physicalNameOf, randomPassword, usernameOf } from './names'

/** Each change holds a connection of the state: the rest of the platform keeps most of them. */
const PARALLEL_CHANGES = 4
/** A change in progress is waited for as long; it also takes a moment until the lock of a killed platform is gone. */
const LOCK_MS = 1000
const PURPOSE = 'database password'

export interface DatabaseParts {
  db: Db
  /** For the locks: each needs a connection of its own. */
  pool: Pool
  secrets: Secrets
  servers: Record<DatabaseType, DatabaseServer>
  log: Logger
}

/** Every call throws AppError UNAVAILABLE when the server of that type is not there, NOT_CONFIGURED when none was ever set up; the other type works on. */
export interface Databases {
  /** By name, with credentials, sizes and counts of this moment; what cannot be measured now is left out. */
  list(type: DatabaseType): Promise<Database[]>
  /** @throws AppError NAME_TAKEN, also for what was made on the server outside the console; CONFLICT when it is being changed */
  create(type: DatabaseType, name: string): Promise<Database>
  /** A new password; connections of the old one end. @throws AppError NOT_FOUND, CONFLICT */
  resetPassword(type: DatabaseType, name: string): Promise<Database>
  /** Ends open connections, then everything of it is gone. @throws AppError NOT_FOUND, CONFLICT */
  remove(type: DatabaseType, name: string): Promise<void>
  /**
   * At the start of a platform: brings up what must run, and finishes what the end of the last one has cut off. Never throws:
   * what cannot be done now is tried with the next call.
   */
  start(): Promise<void>
}

/**
 * Users' databases (decisions §8). Each change writes its intent to the state, then does it on the server, then writes that
 * it is done: whatever is cut off, the row tells how to go on. A change holds a lock of the state, so that of all replicas one
 * works on a database at a time.
 */
export function createDatabases({ db, pool, secrets, servers, log }: DatabaseParts): Databases {
  // Apart, so that a server that is away holds up nobody else.
  const limits = { sql: createLimiter(PARALLEL_CHANGES), mongo: createLimiter(PARALLEL_CHANGES) }

  /** By their rows' ids: changes of this platform that go on. They need nobody to finish them. */
  const underWay = new Set<string>()

  async function changing<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    underWay.add(id)
    try {
      return await work()
    } finally {
      underWay.delete(id)
    }
  }

  const wasCutOff = ({ id, state }: DatabaseRow) => state !== 'ready' && !underWay.has(id)

  /** @throws AppError CONFLICT when somebody else works on the database for longer than a moment. */
  async function exclusively<Result>(type: DatabaseType, name: string, work: () => Promise<Result>): Promise<Result> {
    return limits[type](async () => {
      const client = await pool.connect()
      let failed = true
      try {
        const key = `database ${type} ${type === 'mongo' ? name.toLowerCase() : name}`
        if (!(await takeLock(client, key)))
          throw new AppError('CONFLICT', `The database "${name}" is being changed at this moment. Try it again.`)
        try {
          return await work()
        } finally {
          // Nothing was written in the transaction that holds the lock.
          await client.query('commit')
          failed = false
        }
      } finally {
        // With the connection goes its lock.
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

  /** Under the lock: whatever state a row was left in, it is ready or gone afterwards. */
  async function finish(row: DatabaseRow): Promise<void> {
    const server = servers[row.type]
    if (row.state === 'resetting') {
      await server.setPassword(row, unseal(row))
      await updateDatabase(db, row.id, { state: 'ready' })
    } else if (row.state !== 'ready') {
      // Who asked for a database that was not finished never heard of it.
      await server.remove(row)
      await deleteDatabase(db, row.id)
    }
  }

  async function finishQuietly({ type, name }: DatabaseRow): Promise<void> {
    try {
      await exclusively(type, name, async () => {
        const row = await findDatabase(db, type, name)
        if (row) await finish(row)
      })
    } catch (error) {
      log.warn({ err: error, type, name }, 'a change of a database that was cut off could not be finished yet')
    }
  }

  /** Never throws. Marks on the server name the row, so this does no harm to another of the same name made meanwhile. */
  async function undo(row: DatabaseRow): Promise<void> {
    try {
      await updateDatabase(db, row.id, { state: 'deleting' })
      await finish({ ...row, state: 'deleting' })
    } catch (error) {
      log.warn({ err: error, type: row.type, name: row.name }, 'a database that could not be created is removed later')
    }
  }

  const seal = (password: string, id: string) => secrets.seal(password, PURPOSE, id)
  const unseal = ({ id, password }: DatabaseRow) => secrets.unseal(password, PURPOSE, id)

  /** A row that was brought here from another state is shown without a password rather than not at all: a reset mends it. */
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
    // Without its password nobody could sign in to it.
    await servers[type].open(
      rows
        .filter(isListed)
        .map((row) => ({ ...row, password: readPassword(row) }))
        .filter(({ password }) => password !== ''),
    )
  }

  async function describe(row: DatabaseRow, password: string, measure?: Measure): Promise<Database> {
    const address = await servers[row.type].address(row, password)
    return {
      name: row.name,
      ...measure,
      credentials: { username: row.username, password, database: row.physical_name, ...address },
    }
  }

  /** Its change is done, whether or not it can be measured now. */
  async function describeFresh(row: DatabaseRow, password: string): Promise<Database> {
    const measures = await servers[row.type].measure([row]).catch(() => undefined)
    return describe(row, password, measures?.get(row.id))
  }

  /** A change that the server's present state forbids was not begun; every other failure leaves one to be finished. */
  function backToReady({ id, password }: DatabaseRow) {
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
      const measures = await servers[type].measure(rows.filter(isListed))
      const left = rows.filter(wasCutOff)
      if (left.length > 0) {
        await Promise.all(left.map(finishQuietly))
        rows = await listDatabases(db, type)
      }
      return Promise.all(rows.filter(isListed).map((row) => describe(row, readPassword(row), measures.get(row.id))))
    },

    async create(type, name) {
      return exclusively(type, name, async () => {
        const before = await findDatabase(db, type, name)
        if (before) await finish(before)
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
        return changing(id, async () => {
          await insertDatabase(db, row).catch((error: unknown) => {
            if (isDuplicate(error)) throw new AppError('NAME_TAKEN', takenText(name, before))
            throw error
          })
          try {
            await servers[type].create(row, password)
          } catch (error) {
            const undone = undo({ ...row, created_at: new Date() })
            // A server that is away would only keep the caller waiting once more.
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
      return exclusively(type, name, async () => {
        const row = await find(type, name)
        if (row.state === 'deleting') throw new AppError('CONFLICT', `The database "${name}" is being deleted.`)
        const password = randomPassword()
        return changing(row.id, async () => {
          // From here on the new one counts, even if the server hears of it later.
          await updateDatabase(db, row.id, { password: seal(password, row.id), state: 'resetting' })
          await servers[type].setPassword(row, password).catch(backToReady(row))
          await updateDatabase(db, row.id, { state: 'ready' })
          return describeFresh(row, password)
        })
      })
    },

    async remove(type, name) {
      await find(type, name)
      await exclusively(type, name, async () => {
        const row = await find(type, name)
        await changing(row.id, async () => {
          await updateDatabase(db, row.id, { state: 'deleting' })
          await finish({ ...row, state: 'deleting' }).catch(backToReady(row))
        })
      })
    },

    async start() {
      await Promise.all(
        (['sql', 'mongo'] as const).map(async (type) => {
          try {
            const rows = await listDatabases(db, type)
            if (rows.length > 0) await open(type, rows)
            await Promise.all(rows.filter(wasCutOff).map(finishQuietly))
          } catch (error) {
            log.warn({ err: error, type }, 'the databases could not be brought up yet')
          }
        }),
      )
    },
  }
}

async function takeLock(client: PoolClient, key: string): Promise<boolean> {
  for (const deadline = performance.now() + LOCK_MS; ; await delay(50)) {
    const isTaken = await tryAdvisoryLock(client, key)
    if (isTaken || performance.now() > deadline) return isTaken
  }
}

function isListed({ state }: DatabaseRow): boolean {
  return state === 'ready' || state === 'resetting'
}

function takenText(name: string, existing: DatabaseRow | undefined): string {
  if (existing && existing.name !== name)
    return `There is a database named "${existing.name}", and MongoDB has no two whose names differ only in case. Choose another name.`
  return `A database named "${name}" already exists.`
}
