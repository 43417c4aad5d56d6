import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { MongoClient } from 'mongodb'
import type { Logger } from 'pino'
import { randomPassword } from '../databaseNames'
import type { ServerDatabase } from '../databaseServer'
import { isMongoUnreachable, openMongoClient } from './mongoClient'
import { superviseMongo, type SupervisedMongo } from './mongoProgram'

const FIRST_PORT = 27_217
/** The size of the range of first ports. */
const FIRST_PORTS = 2000
const READY_TIMEOUT_MS = 20_000
/** FerretDB would wait seconds for its clients. Its confirmed writes are in the page cache and survive a kill. */
const STOP_TIMEOUT_MS = 300
const ADMIN = 'quarterdeck'

/** The FerretDB process of one database. */
export interface FerretProcess {
  supervised: SupervisedMongo
  /** The administrator's connection; undefined while the process is down. */
  client: MongoClient | undefined
  /** The database user's password, set at the next start. */
  password: string
}

export interface FerretProcessParts {
  /** The ferretdb program. */
  path: string
  /** The directory of this database. */
  directory: string
  database: ServerDatabase
  password: string
  /** Ports that other processes have or will use. */
  claimed: Set<number>
  log: Logger
}

/** Does not start the process yet. */
export function createFerretProcess({
  path,
  directory,
  database,
  password,
  claimed,
  log,
}: FerretProcessParts): FerretProcess {
  const data = join(directory, 'data')
  let adminPassword = ''

  async function prepare(port: number): Promise<{ args: string[]; env: Record<string, string> }> {
    await mkdir(data, { recursive: true, mode: 0o700 })
    // The users are in the database `admin`. It is recreated at each start, which undoes any change to them and needs
    // no stored administrator password.
    for (const file of await readdir(data))
      if (file.startsWith('admin.sqlite')) await rm(join(data, file), { force: true })
    adminPassword = randomPassword()
    return {
      // A relative URL, because FerretDB and SQLite interpret %, ? and # in a path.
      args: [
        '--handler=sqlite',
        '--sqlite-url=file:data/',
        `--state-dir=${directory}`,
        `--listen-addr=127.0.0.1:${port}`,
        '--debug-addr=-',
        '--telemetry=disable',
        '--log-level=WARN',
        '--test-enable-new-auth',
      ],
      // Not as arguments, which every user of the machine can read.
      env: {
        FERRETDB_SETUP_DATABASE: 'admin',
        FERRETDB_SETUP_USERNAME: ADMIN,
        FERRETDB_SETUP_PASSWORD: adminPassword,
      },
    }
  }

  const created: FerretProcess = {
    password,
    client: undefined,
    supervised: superviseMongo(
      {
        path,
        claimed,
        directory,
        firstPort: firstPortOf(database),
        stopTimeoutMs: STOP_TIMEOUT_MS,
        prepare,
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
  return created
}

/** Each database starts at another port, so that a restarting process does not lose its port to a second platform. */
export function firstPortOf({ id }: ServerDatabase): number {
  return FIRST_PORT + (Number.parseInt(id.slice(0, 8), 16) % FIRST_PORTS)
}

/** Signs in when the process listens. SCRAM authenticates both sides, so another process on the port is detected. */
async function signIn(port: number, password: string, ended: AbortSignal): Promise<MongoClient> {
  const url = `mongodb://${ADMIN}:${password}@127.0.0.1:${port}/admin?directConnection=true`
  const deadline = performance.now() + READY_TIMEOUT_MS
  while (true) {
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
      if (!isMongoUnreachable(error) || ended.aborted || performance.now() > deadline) throw error
    }
  }
}
