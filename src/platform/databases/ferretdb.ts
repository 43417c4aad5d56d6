import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { MongoClient } from 'mongodb'
import type { Logger } from 'pino'
import { nameTaken, notOnServer, type DatabaseServer, type Measure, type ServerDatabase } from './databaseServer'
import { createLimiter } from './limiter'
import { isAway, isReservedMongoName, openMongoClient } from './mongoClient'
import { randomPassword } from './names'
import { supervise, type Supervised } from './supervisor'

const FIRST_PORT = 27_217
/** So many ports from there on one begins to look at. */
const FIRST_PORTS = 2000
const PARALLEL_STARTS = 4
const READY_MS = 20_000
/** It would wait seconds for its clients to leave. What it has answered is with the system by then, and outlives the process. */
const PATIENCE_MS = 300
/** So long the listing waits for a process that is being started. */
const MEASURE_MS = 4000
const ADMIN = 'quarterdeck'

interface Running {
  supervised: Supervised
  /** The administrator's connection; undefined while the process is not up. */
  client: MongoClient | undefined
  /** The owner's, which the next start gives them. */
  password: string
  /** Settles when the present start has. */
  begun: Promise<void>
  /** It is being removed, or was: it must not be started any more. */
  isRemoved: boolean
}

/**
 * Users' databases on FerretDB 1.x. It knows users, not rights: whoever signs in may read and write every database of the
 * process. Each database has therefore a process of its own, with its own directory, port and user.
 * @param path of the ferretdb program
 * @param directory where each database's own directory is
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
  const limit = createLimiter(PARALLEL_STARTS)
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
      begun: Promise.resolve(),
      isRemoved: false,
      supervised: supervise(
        {
          path,
          claimed,
          directory: directoryOf(database),
          firstPort: firstPortOf(database),
          patienceMs: PATIENCE_MS,
          async prepare(port) {
            await mkdir(data, { recursive: true, mode: 0o700 })
            // The users are in the database `admin`. Made anew at each start, they are right whatever was done to them, and no
            // administrator's password needs to be kept.
            for (const file of await readdir(data))
              if (file.startsWith('admin.sqlite')) await rm(join(data, file), { force: true })
            adminPassword = randomPassword()
            // The URL is relative to where it runs: in a path, FerretDB and SQLite take %, ? and # for their own.
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

  function start(process: Running): Promise<void> {
    const begun = limit(async () => (process.isRemoved ? undefined : process.supervised.start()))
    process.begun = begun.catch(() => undefined)
    return begun
  }

  async function measureOne(database: ServerDatabase): Promise<Measure | undefined> {
    const process = running.get(database.id)
    await Promise.race([process?.begun, delay(MEASURE_MS, undefined, { ref: false })])
    const stats = await process?.client
      ?.db(database.physical_name)
      .command({ dbStats: 1 }, { timeoutMS: MEASURE_MS })
      .catch((error: unknown) => {
        log.debug({ err: error, database: database.physical_name }, 'a database could not be measured')
        return undefined
      })
    return stats && { size: Number(stats.totalSize), tables: Number(stats.collections) }
  }

  async function isMade(database: ServerDatabase): Promise<boolean> {
    return stat(directoryOf(database)).then(
      () => true,
      () => false,
    )
  }

  return {
    async open(databases) {
      for (const database of databases) {
        if (running.has(database.id) || !(await isMade(database))) continue
        // It is tried again until it succeeds; nobody waits for that here.
        start(processOf(database, database.password)).catch(() => undefined)
      }
    },

    async address(database) {
      return { host: '127.0.0.1', port: (await running.get(database.id)?.supervised.port()) ?? firstPortOf(database) }
    },

    async measure(databases) {
      const measures = new Map<string, Measure>()
      await Promise.all(
        databases.map(async (database) => {
          const measure = await measureOne(database)
          if (measure) measures.set(database.id, measure)
        }),
      )
      return measures
    },

    async create(database, password) {
      if (isReservedMongoName(database.physical_name)) throw nameTaken(database.physical_name)
      await start(processOf(database, password))
    },

    async setPassword(database, password) {
      if (!(await isMade(database))) throw notOnServer(database.physical_name)
      // The end of the process is the end of its connections.
      const process = processOf(database, password)
      await process.supervised.stop()
      await start(process)
    },

    async remove(database) {
      const process = processOf(database, '')
      process.isRemoved = true
      await process.supervised.stop()
      await rm(directoryOf(database), { recursive: true, force: true })
      // Not before: a listing that knew of it until now would start it anew where it is still on the disk.
      running.delete(database.id)
      process.supervised.giveUpPort()
    },

    async close() {
      await Promise.all([...running.values()].map(({ supervised }) => supervised.stop()))
    },
  }
}

/** Each looks elsewhere: the port of one that restarts is not the next that another platform of this machine would find free. */
function firstPortOf({ id }: ServerDatabase): number {
  return FIRST_PORT + (Number.parseInt(id.slice(0, 8), 16) % FIRST_PORTS)
}

/** Signs in once it listens. SCRAM proves both sides: who listens there knows the password. */
async function signIn(port: number, password: string, ended: AbortSignal): Promise<MongoClient> {
  const url = `mongodb://${ADMIN}:${password}@127.0.0.1:${port}/admin?directConnection=true`
  for (const deadline = Date.now() + READY_MS; ;) {
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
      if (!isAway(error) || ended.aborted || Date.now() > deadline) throw error
    }
  }
}
