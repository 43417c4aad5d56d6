import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import pLimit from 'p-limit'
import { nameTaken, notOnServer, type DatabaseServer, type DatabaseStats, type ServerDatabase } from '../databaseServer'
import { createFerretProcess, firstPortOf, type FerretProcess } from './ferretProcess'
import { isReservedMongoName } from './mongoClient'

const PARALLEL_STARTS = 4
/** How long a listing waits for a process that starts or hangs. */
const STATS_TIMEOUT_MS = 4000

interface Running extends FerretProcess {
  /** Settles with the current start. */
  started: Promise<void>
  /** Set by remove: the process must not be started again. */
  isRemoved: boolean
}

/**
 * Users' databases on FerretDB 1.x, which has users but no permissions: any user may read and write every database of
 * the process. Each database therefore has its own process, directory, port and user.
 * @param path the ferretdb program
 * @param directory contains a directory for each database
 */
export function createFerret({
  path,
  directory,
  log,
}: {
  path: string
  directory: string
  log: Logger
}): DatabaseServer {
  const running = new Map<string, Running>()
  const claimed = new Set<number>()
  const limit = pLimit(PARALLEL_STARTS)
  const directoryOf = ({ id }: ServerDatabase) => join(directory, id)

  function processOf(database: ServerDatabase, password: string): Running {
    const known = running.get(database.id)
    if (known) {
      known.password = password
      return known
    }
    const created = Object.assign(
      createFerretProcess({ path, directory: directoryOf(database), database, password, claimed, log }),
      { started: Promise.resolve(), isRemoved: false },
    )
    running.set(database.id, created)
    return created
  }

  function start(server: Running): Promise<void> {
    const started = limit(async () => (server.isRemoved ? undefined : server.supervised.start()))
    server.started = started.catch(() => undefined)
    return started
  }

  async function statsOf(database: ServerDatabase): Promise<DatabaseStats | undefined> {
    const server = running.get(database.id)
    const signal = AbortSignal.timeout(STATS_TIMEOUT_MS)
    await Promise.race([server?.started, delay(STATS_TIMEOUT_MS, undefined, { ref: false })])
    const stats = await server?.client
      ?.db(database.physical_name)
      .command({ dbStats: 1 }, { signal })
      .catch((error: unknown) => {
        log.debug({ err: error, database: database.physical_name }, 'failed to read the size of a database')
        return undefined
      })
    return stats && { size: Number(stats.totalSize), tables: Number(stats.collections) }
  }

  return {
    async open(databases) {
      for (const database of databases) {
        if (running.has(database.id) || !(await exists(directoryOf(database)))) continue
        // Not awaited: the supervisor retries until it succeeds.
        start(processOf(database, database.password)).catch(() => undefined)
      }
    },

    async address(database) {
      return { host: '127.0.0.1', port: (await running.get(database.id)?.supervised.port()) ?? firstPortOf(database) }
    },

    async stats(databases) {
      const statsById = new Map<string, DatabaseStats>()
      await Promise.all(
        databases.map(async (database) => {
          const databaseStats = await statsOf(database)
          if (databaseStats) statsById.set(database.id, databaseStats)
        }),
      )
      return statsById
    },

    async create(database, password) {
      if (isReservedMongoName(database.physical_name)) throw nameTaken(database.physical_name)
      await start(processOf(database, password))
    },

    async setPassword(database, password) {
      if (!(await exists(directoryOf(database)))) throw notOnServer(database.physical_name)
      // Ending the process ends its connections.
      const server = processOf(database, password)
      await server.supervised.stop()
      await start(server)
    },

    async remove(database) {
      const server = processOf(database, '')
      server.isRemoved = true
      await server.supervised.stop()
      await rm(directoryOf(database), { recursive: true, force: true })
      // Only after the files are gone, because a concurrent listing would start the process again.
      running.delete(database.id)
      server.supervised.releasePort()
    },

    async close() {
      await Promise.all([...running.values()].map(({ supervised }) => supervised.stop()))
    },
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
