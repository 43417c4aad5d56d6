import pLimit from 'p-limit'
import type { Logger } from 'pino'
import type { DatabaseType } from '../../contract/database'
import { AppError } from '../errors'
import { deleteDatabase, findDatabase, updateDatabase, type DatabaseRow, type NewDatabaseRow } from '../state/databases'
import type { Db } from '../state/db'
import type { WithDatabaseLock } from './databaseLock'
import type { DatabasePasswords } from './databasePasswords'
import type { DatabaseServer } from './databaseServer'

export interface DatabaseChangeParts {
  db: Db
  servers: Record<DatabaseType, DatabaseServer>
  passwords: DatabasePasswords
  withLock: WithDatabaseLock
  log: Logger
}

/** Tracks this platform's changes of databases, and completes or undoes those that were interrupted. */
export interface DatabaseChanges {
  /** Runs a change of a row. Until it ends, the row does not count as interrupted. */
  track<Result>(id: string, work: () => Promise<Result>): Promise<Result>
  wasInterrupted: (row: DatabaseRow) => boolean
  /** Must hold the lock. Completes an interrupted change: the row is ready or deleted afterwards. */
  complete(row: NewDatabaseRow): Promise<void>
  /**
   * Takes the lock and completes an interrupted change, one of each type at a time. Calls for a row share its
   * completion. Never throws.
   */
  tryComplete: (row: DatabaseRow) => Promise<void>
  /** Never throws. Markers on the server contain the row's id, so a new database of the same name is not affected. */
  tryUndoCreation(row: NewDatabaseRow): Promise<void>
  /**
   * Returns an error handler. A change that the server refuses with CONFLICT was not begun and is reverted; after any
   * other error the row stays, and the change is completed later.
   */
  revertIfRefused(row: DatabaseRow): (error: unknown) => Promise<never>
}

export function createDatabaseChanges({ db, servers, passwords, withLock, log }: DatabaseChangeParts): DatabaseChanges {
  const inProgress = new Set<string>()
  // One limit per type: a server that is down must not delay the other type.
  const limits = { sql: pLimit(1), mongo: pLimit(1) }
  /** Completions that are queued or in progress, by row. Each listing requests them again while a server hangs. */
  const completions = new Map<string, Promise<void>>()

  async function complete(row: NewDatabaseRow): Promise<void> {
    const server = servers[row.type]
    if (row.state === 'resetting') {
      await server.setPassword(row, passwords.unseal(row))
      await updateDatabase(db, row.id, { state: 'ready' })
    } else if (row.state !== 'ready') {
      // The caller of an interrupted creation never got its result, so it is undone.
      await server.remove(row)
      await deleteDatabase(db, row.id)
    }
  }

  async function completeLocked({ type, name }: DatabaseRow): Promise<void> {
    try {
      await withLock(type, name, async () => {
        const row = await findDatabase(db, type, name)
        if (row) await complete(row)
      })
    } catch (error) {
      log.warn(
        { err: error, type, name },
        'failed to complete an interrupted change of a database; the next call retries it',
      )
    }
  }

  return {
    async track(id, work) {
      inProgress.add(id)
      try {
        return await work()
      } finally {
        inProgress.delete(id)
      }
    },

    wasInterrupted: ({ id, state }) => state !== 'ready' && !inProgress.has(id),

    complete,

    tryComplete(row) {
      const completion =
        completions.get(row.id) ?? limits[row.type](() => completeLocked(row)).finally(() => completions.delete(row.id))
      completions.set(row.id, completion)
      return completion
    },

    async tryUndoCreation(row) {
      try {
        await updateDatabase(db, row.id, { state: 'deleting' })
        await complete({ ...row, state: 'deleting' })
      } catch (error) {
        log.warn(
          { err: error, type: row.type, name: row.name },
          'failed to remove a database whose creation failed; the next call retries it',
        )
      }
    },

    revertIfRefused:
      ({ id, password, state }) =>
      async (error) => {
        if (error instanceof AppError && error.code === 'CONFLICT')
          // An earlier reset that was interrupted is still completed later.
          await updateDatabase(db, id, { password, state: state === 'resetting' ? state : 'ready' })
        throw error
      },
  }
}
