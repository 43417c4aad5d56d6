import type { Document, MongoClient } from 'mongodb'
import type { Logger } from 'pino'
import { AppError } from '../../errors'
import {
  markerOf,
  nameTaken,
  notOnServer,
  type DatabaseServer,
  type DatabaseStats,
  type ServerDatabase,
} from '../databaseServer'
import { createConcurrencyLimit } from '../concurrencyLimit'
import {
  toAppError,
  isReservedMongoName,
  mongoCodeOf,
  MongoErrorCode,
  invalidUrl,
  openMongoClient,
} from './mongoClient'
import { parseMongoUrl, type MongoUrl } from './mongoUrl'

const PARALLEL_COUNTS = 8
const COUNT_MS = 4000
const DEFAULT_PORT = 27_017
/**
 * Lower-case options of the administrator's URL that every client needs. Other options may name the platform's files
 * and contain passwords, so they are not passed on.
 */
const FOR_CLIENTS = ['tls', 'ssl', 'replicaset', 'loadbalanced', 'srvservicename', 'retrywrites']

export interface MongoRolesParts {
  /** An administrator's URL. Called for each operation; may throw an AppError. */
  url: () => Promise<string>
  title: string
  /** What to do when the server is down, as a sentence. */
  remedy: string
  log: Logger
  close?: () => Promise<void>
}

/**
 * Users' databases on a MongoDB server (4.4 or newer) with roles. Each has a user with `readWrite` on that database
 * only, by a role in it that marks it as ours. A password change recreates the user, which ends the rights of open
 * connections; the role remains.
 */
export function createMongoRoles({ url, title, remedy, log, close }: MongoRolesParts): DatabaseServer {
  let connected: { url: string; client: Promise<MongoClient>; checked?: Promise<void> } | undefined
  const counts = createConcurrencyLimit(PARALLEL_COUNTS)

  async function onServer<Result>(work: (client: MongoClient) => Promise<Result>): Promise<Result> {
    try {
      const connection = connect(await url())
      const client = await connection.client
      await (connection.checked ??= checkServer(client))
      return await work(client)
    } catch (error) {
      if (connected) connected.checked = undefined
      throw toAppError(error, title, remedy)
    }
  }

  /** Synchronous, so that concurrent calls share one client. */
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

  /** Refuses FerretDB, whose users could access every database. */
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
      .command({ rolesInfo: { role: markerOf(database), db: database.physical_name } })
    return (roles as Document[]).length > 0
  }

  async function makeUser(client: MongoClient, database: ServerDatabase, password: string): Promise<void> {
    const db = database.physical_name
    await client
      .db(db)
      .command({ createUser: database.username, pwd: password, roles: [{ role: markerOf(database), db }] })
  }

  /** Dropping the user ends the rights of its connections; their operations are killed. */
  async function endUser(client: MongoClient, { physical_name: db, username: user }: ServerDatabase): Promise<void> {
    await client.db(db).command({ dropUser: user }).catch(unless(MongoErrorCode.userNotFound))
    await client
      .db('admin')
      .command({ killAllSessions: [{ user, db }] })
      .catch((error: unknown) => {
        // Some hosted servers forbid it. The rights are revoked in any case.
        log.warn({ code: mongoCodeOf(error), database: db }, 'the sessions of a database’s user could not be ended')
      })
  }

  return {
    async open() {
      // Also starts a server that runs beside the platform.
      await onServer(async () => undefined)
    },

    async address({ username, physical_name }, password) {
      const { scheme, hosts, options } = hostsOf(await url(), title)
      const address = { host: hosts[0]?.host ?? '', port: hosts[0]?.port ?? DEFAULT_PORT }
      for (const name of [...options.keys()]) if (!FOR_CLIENTS.includes(name.toLowerCase())) options.delete(name)
      if (scheme === 'mongodb' && hosts.length === 1 && options.size === 0) return address
      // SRV names, replica sets and TLS need a URL.
      options.set('authSource', physical_name)
      const list = hosts.map(({ host, port }) => (port === undefined ? host : `${host}:${port}`)).join(',')
      return {
        ...address,
        connectionString: `${scheme}://${username}:${password}@${list}/${physical_name}?${options.toString()}`,
      }
    },

    async stats(databases) {
      return onServer(async (client) => {
        const { databases: known } = await client.db('admin').command({ listDatabases: 1 })
        const sizes = new Map((known as Document[]).map(({ name, sizeOnDisk }) => [String(name), Number(sizeOnDisk)]))
        const statsById = new Map<string, DatabaseStats>()
        await Promise.all(
          databases.map((database) =>
            counts(async () => {
              const size = sizes.get(database.physical_name)
              // MongoDB creates a database with its first collection.
              if (size === undefined) return void statsById.set(database.id, { size: 0, tables: 0 })
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
              statsById.set(database.id, {
                size,
                ...(collections && { tables: collections.filter(({ name }) => !name.startsWith('system.')).length }),
              })
            }),
          ),
        )
        return statsById
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
          .command({ createRole: markerOf(database), privileges: [], roles: [{ role: 'readWrite', db }] })
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
        // Last, because the role marks the rest as ours.
        await client
          .db(database.physical_name)
          .command({ dropRole: markerOf(database) })
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
  if (!parsed) throw invalidUrl(title)
  return parsed
}

function unless(code: number): (error: unknown) => void {
  return (error) => {
    if (mongoCodeOf(error) !== code) throw error
  }
}
