import type { Document, MongoClient } from 'mongodb'
import type { Logger } from 'pino'
import { AppError } from '../errors'
import {
  markOf,
  nameTaken,
  notOnServer,
  type DatabaseServer,
  type Measure,
  type ServerDatabase,
} from './databaseServer'
import { createLimiter } from './limiter'
import {
  explainMongo,
  isReservedMongoName,
  mongoCodeOf,
  MongoErrorCode,
  notUnderstood,
  openMongoClient,
} from './mongoClient'
import { parseMongoUrl, type MongoUrl } from './mongoUrl'

const PARALLEL_COUNTS = 8
const COUNT_MS = 4000
const DEFAULT_PORT = 27_017
/**
 * Options of the administrator's URL that every client needs to get to the server, in lower case. All others are the
 * platform's alone: they may name its files and hold further passwords.
 */
const FOR_CLIENTS = ['tls', 'ssl', 'replicaset', 'loadbalanced', 'srvservicename', 'retrywrites']

export interface MongoRolesParts {
  /** An administrator's URL. Asked for with each call; may throw an AppError. */
  url: () => Promise<string>
  title: string
  /** What to do when it does not answer, as a sentence. */
  remedy: string
  log: Logger
  close?: () => Promise<void>
}

/**
 * Users' databases on a MongoDB server (4.4 or newer) that knows roles: each has a user of its own with `readWrite` on it
 * alone. The user has it by a role in that database which marks it as ours; the role outlives the user, who is made anew when
 * the password changes: that is what ends the rights of connections that are open.
 */
export function createMongoRoles({ url, title, remedy, log, close }: MongoRolesParts): DatabaseServer {
  let connected: { url: string; client: Promise<MongoClient>; checked?: Promise<void> } | undefined
  const counts = createLimiter(PARALLEL_COUNTS)

  async function onServer<Result>(work: (client: MongoClient) => Promise<Result>): Promise<Result> {
    try {
      const connection = connect(await url())
      const client = await connection.client
      await (connection.checked ??= checkServer(client))
      return await work(client)
    } catch (error) {
      if (connected) connected.checked = undefined
      throw explainMongo(error, title, remedy)
    }
  }

  /** Without waiting for anything: of calls that come together only the first one opens a client. */
  function connect(now: string): NonNullable<typeof connected> {
    if (connected?.url === now) return connected
    const former = connected
    const opened = { url: now, client: openMongoClient(now) }
    connected = opened
    opened.client.catch(() => {
      if (connected === opened) connected = undefined
    })
    void closeClient(former)
    return opened
  }

  async function closeClient(connection: typeof connected): Promise<void> {
    const client = await connection?.client.catch(() => undefined)
    await client
      ?.close()
      .catch((error: unknown) => log.warn({ err: error }, 'a connection to a MongoDB server could not be closed'))
  }

  /** Users who may do everything are worse than none. */
  async function checkServer(client: MongoClient): Promise<void> {
    const info = await client.db('admin').command({ buildInfo: 1 })
    if ('ferretdbVersion' in info || 'ferretdb' in info) {
      throw new AppError(
        'UNAVAILABLE',
        `${title} is FerretDB, which cannot keep users out of each other’s databases. Name a MongoDB server; or unset it and put ferretdb on the PATH: then each database gets a process of its own.`,
      )
    }
  }

  async function isOurs(client: MongoClient, database: ServerDatabase): Promise<boolean> {
    const { roles } = await client
      .db(database.physical_name)
      .command({ rolesInfo: { role: markOf(database), db: database.physical_name } })
    return (roles as Document[]).length > 0
  }

  async function makeUser(client: MongoClient, database: ServerDatabase, password: string): Promise<void> {
    const db = database.physical_name
    await client
      .db(db)
      .command({ createUser: database.username, pwd: password, roles: [{ role: markOf(database), db }] })
  }

  /** With the user go the rights of whoever is signed in as it, and what they are doing is stopped. */
  async function endUser(client: MongoClient, { physical_name: db, username: user }: ServerDatabase): Promise<void> {
    await client.db(db).command({ dropUser: user }).catch(unless(MongoErrorCode.userNotFound))
    await client
      .db('admin')
      .command({ killAllSessions: [{ user, db }] })
      .catch((error: unknown) => {
        // Some hosted servers forbid it; the rights are gone in any case.
        log.warn({ code: mongoCodeOf(error), database: db }, 'the sessions of a database’s user could not be ended')
      })
  }

  return {
    async open() {
      // Also has a server that runs beside the platform started.
      await onServer(async () => undefined)
    },

    async address({ username, physical_name }, password) {
      const { scheme, hosts, options } = hostsOf(await url(), title)
      const address = { host: hosts[0]?.host ?? '', port: hosts[0]?.port ?? DEFAULT_PORT }
      for (const name of [...options.keys()]) if (!FOR_CLIENTS.includes(name.toLowerCase())) options.delete(name)
      if (scheme === 'mongodb' && hosts.length === 1 && options.size === 0) return address
      // Only the driver finds the hosts behind an SRV name or of a replica set, and a server that asks for TLS asks everybody.
      options.set('authSource', physical_name)
      const list = hosts.map(({ host, port }) => (port === undefined ? host : `${host}:${port}`)).join(',')
      return {
        ...address,
        connectionString: `${scheme}://${username}:${password}@${list}/${physical_name}?${options.toString()}`,
      }
    },

    async measure(databases) {
      return onServer(async (client) => {
        const { databases: known } = await client.db('admin').command({ listDatabases: 1 })
        const sizes = new Map((known as Document[]).map(({ name, sizeOnDisk }) => [String(name), Number(sizeOnDisk)]))
        const measures = new Map<string, Measure>()
        await Promise.all(
          databases.map((database) =>
            counts(async () => {
              const size = sizes.get(database.physical_name)
              // A database is there from its first collection on.
              if (size === undefined) return void measures.set(database.id, { size: 0, tables: 0 })
              const collections = await client
                .db(database.physical_name)
                .listCollections({}, { nameOnly: true, timeoutMS: COUNT_MS })
                .toArray()
                .catch((error: unknown) => {
                  log.debug(
                    { database: database.physical_name, code: mongoCodeOf(error) },
                    'the collections of a database could not be counted',
                  )
                  return undefined
                })
              measures.set(database.id, {
                size,
                ...(collections && { tables: collections.filter(({ name }) => !name.startsWith('system.')).length }),
              })
            }),
          ),
        )
        return measures
      })
    },

    async create(database, password) {
      const { physical_name: db } = database
      if (isReservedMongoName(db)) throw nameTaken(db)
      await onServer(async (client) => {
        const { databases } = await client.db('admin').command({ listDatabases: 1, nameOnly: true })
        const { users } = await client.db(db).command({ usersInfo: 1 })
        if (
          (databases as Document[]).some(({ name }) => String(name).toLowerCase() === db.toLowerCase()) ||
          (users as Document[]).length > 0
        )
          throw nameTaken(db)
        await client
          .db(db)
          .command({ createRole: markOf(database), privileges: [], roles: [{ role: 'readWrite', db }] })
        await makeUser(client, database, password)
      })
    },

    async setPassword(database, password) {
      await onServer(async (client) => {
        if (!(await isOurs(client, database))) throw notOnServer(database.physical_name)
        await endUser(client, database)
        await makeUser(client, database, password)
      })
    },

    async remove(database) {
      await onServer(async (client) => {
        if (!(await isOurs(client, database))) return
        await endUser(client, database)
        await client.db(database.physical_name).dropDatabase()
        // Last, because it alone says that the rest is ours.
        await client
          .db(database.physical_name)
          .command({ dropRole: markOf(database) })
          .catch(unless(MongoErrorCode.roleNotFound))
      })
    },

    async close() {
      await closeClient(connected)
      await close?.()
    },
  }
}

/** @throws AppError UNAVAILABLE */
function hostsOf(url: string, title: string): MongoUrl {
  const parsed = parseMongoUrl(url)
  if (!parsed) throw notUnderstood(title)
  return parsed
}

function unless(code: number): (error: unknown) => void {
  return (error) => {
    if (mongoCodeOf(error) !== code) throw error
  }
}
