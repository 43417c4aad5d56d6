import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { MongoClient } from 'mongodb'
import type { Logger } from 'pino'
import { nameTaken, notOnServer, type DatabaseServer, type DatabaseStats, type ServerDatabase } from '../databaseServer'
import { createConcurrencyLimit } from '../concurrencyLimit'
import { isUnreachable, isReservedMongoName, openMongoClient } from './mongoClient'
import { randomPassword } from '../databaseNames'
import { supervise, type Supervised } from './supervisor'

const FIRST_PORT = 27_217
/** The size of the range of first ports. */
const FIRST_PORTS = 2000
const PARALLEL_STARTS = 4
const READY_TIMEOUT_MS = 20_000
/** FerretDB would wait seconds for its clients. Its confirmed writes are in the page cache and survive a kill. */
const STOP_TIMEOUT_MS = 300
/** How long a listing waits for a starting process. */
const STATS_TIMEOUT_MS = 4000
const ADMIN = 'quarterdeck'

interface Running {
  supervised: Supervised
  /** The administrator's connection; undefined while the process is down. */
  client: MongoClient | undefined
  /** The database user's password, set at the next start. */
  password: string
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
  const limit = createConcurrencyLimit(PARALLEL_STARTS)
  const directoryOf = ({ id }: ServerDatabase) => join(directory, id)

  function processOf(database: ServerDatabase, password: string): Running {
    const known = running.get(database.id)
    if (known) {
      known.password = password
      return known
    }
    const data = join(directoryOf(database), 'data')
    let adminPassword = ''
    const created: Running = {
      password,
      client: undefined,
      started: Promise.resolve(),
      isRemoved: false,
      supervised: supervise(
        {
          path,
          claimed,
          directory: directoryOf(database),
          firstPort: firstPortOf(database),
          stopTimeoutMs: STOP_TIMEOUT_MS,
          async prepare(port) {
            await mkdir(data, { recursive: true, mode: 0o700 })
            // The users are in the database `admin`. It is recreated at each start, which undoes any change to them and
            // needs no stored administrator password.
            for (const file of await readdir(data))
              if (file.startsWith('admin.sqlite')) await rm(join(data, file), { force: true })
            adminPassword = randomPassword()
            // A relative URL, because FerretDB and SQLite interpret %, ? and # in a path.
            const args = [
              '--handler=sqlite',
              '--sqlite-url=file:data/',
              `--state-dir=${directoryOf(database)}`,
              `--listen-addr=127.0.0.1:${port}`,
              '--debug-addr=-',
              '--telemetry=disable',
              '--log-level=WARN',
              '--test-enable-new-auth',
            ]
            // Not as arguments, which every user of the machine can read.
            return {
              args,
              env: {
                FERRETDB_SETUP_DATABASE: 'admin',
                FERRETDB_SETUP_USERNAME: ADMIN,
                FERRETDB_SETUP_PASSWORD: adminPassword,
              },
            }
          },
          async whenReady(port, ended) {
            created.client = await signIn(port, adminPassword, ended)
            await created.client
              .db(database.physical_name)
              .command({ createUser: database.username, pwd: created.password, roles: [] })
          },
          onEnd() {
            void created.client?.close().catch(() => undefined)
            created.client = undefined
          },
        },
        log,
      ),
    }
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
    await Promise.race([server?.started, delay(STATS_TIMEOUT_MS, undefined, { ref: false })])
    const stats = await server?.client
      ?.db(database.physical_name)
      .command({ dbStats: 1 }, { timeoutMS: STATS_TIMEOUT_MS })
      .catch((error: unknown) => {
        log.debug({ err: error, database: database.physical_name }, 'a database could not be measured')
        return undefined
      })
    return stats && { size: Number(stats.totalSize), tables: Number(stats.collections) }
  }

  async function exists(database: ServerDatabase): Promise<boolean> {
    return stat(directoryOf(database)).then(
      () => true,
      () => false,
    )
  }

  return {
    async open(databases) {
      for (const database of databases) {
        if (running.has(database.id) || !(await exists(database))) continue
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
      if (!(await exists(database))) throw notOnServer(database.physical_name)
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

/** Each database starts at another port, so that a restarting process does not lose its port to a second platform. */
function firstPortOf({ id }: ServerDatabase): number {
  return FIRST_PORT + (Number.parseInt(id.slice(0, 8), 16) % FIRST_PORTS)
}

/** Signs in when the process listens. SCRAM authenticates both sides, so another process on the port is detected. */
async function signIn(port: number, password: string, ended: AbortSignal): Promise<MongoClient> {
  const url = `mongodb://${ADMIN}:${password}@127.0.0.1:${port}/admin?directConnection=true`
  for (const deadline = Date.now() + READY_TIMEOUT_MS; ;) {
    const client = await openMongoClient(url, {
      serverSelectionTimeoutMS: 250,
      maxPoolSize: 2,
      heartbeatFrequencyMS: 60_000,
    })
    try {
      await client.db('admin').command({ ping: 1 })
      await client.db('admin').command({ usersInfo: 1 })
      return client
    } catch (error) {
      await client.close()
      if (!isUnreachable(error) || ended.aborted || Date.now() > deadline) throw error
    }
  }
}
