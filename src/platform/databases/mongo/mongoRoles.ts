import type { Document, MongoClient } from 'mongodb'
import type { Logger } from 'pino'
import pLimit from 'p-limit'
import {
  markerOf,
  nameTaken,
  notOnServer,
  type DatabaseServer,
  type DatabaseStats,
  type ServerDatabase,
} from '../databaseServer'
import { invalidUrl, isReservedMongoName, mongoCodeOf, MongoErrorCode } from './mongoClient'
import { createMongoConnection, type MongoServerParts } from './mongoConnection'
import { parseMongoUrl, type MongoUrl } from './mongoUrl'

const PARALLEL_COUNTS = 8
/** How long the collections of a database, and those of all databases of a list, may take to be counted. */
const COUNT_MS = 4000
const COUNTS_MS = 10_000
const DEFAULT_PORT = 27_017
/**
 * Lower-case options of the administrator's URL that every client needs. Other options may name the platform's files
 * and contain passwords, so they are not passed on.
 */
const FOR_CLIENTS = ['tls', 'ssl', 'replicaset', 'loadbalanced', 'srvservicename', 'retrywrites']

export interface MongoRolesParts extends MongoServerParts {
  close?: () => Promise<void>
}

/**
 * Users' databases on a MongoDB server (4.4 or newer) with roles. Each has a user with `readWrite` on that database
 * only, by a role in it that marks it as ours. A password change recreates the user, which ends the rights of open
 * connections; the role remains.
 */
export function createMongoRoles(parts: MongoRolesParts): DatabaseServer {
  const { url, title, log, close } = parts
  const connection = createMongoConnection(parts)
  const counts = pLimit(PARALLEL_COUNTS)

  return {
    async open() {
      // Also starts a server that runs beside the platform.
      await connection.run(async () => undefined)
    },

    async address({ username, physical_name }, password) {
      return addressOf(hostsOf(await url(), title), username, password, physical_name)
    },

    async stats(databases) {
      return connection.run(async (client) => {
        const { databases: known } = await client.db('admin').command({ listDatabases: 1 })
        const sizes = new Map((known as Document[]).map(({ name, sizeOnDisk }) => [String(name), Number(sizeOnDisk)]))
        const statsById = new Map<string, DatabaseStats>()
        const end = AbortSignal.timeout(COUNTS_MS)
        await Promise.all(
          databases.map((database) =>
            counts(async () => {
              const size = sizes.get(database.physical_name)
              // MongoDB creates a database with its first collection.
              if (size === undefined) return void statsById.set(database.id, { size: 0, tables: 0 })
              const tables = await countCollections(client, database, end).catch((error: unknown) => {
                log.debug(
                  { database: database.physical_name, code: mongoCodeOf(error) },
                  'failed to count the collections of a database',
                )
                return undefined
              })
              statsById.set(database.id, { size, ...(tables !== undefined && { tables }) })
            }),
          ),
        )
        return statsById
      })
    },

    async create(database, password) {
      const { physical_name: db } = database
      if (isReservedMongoName(db)) throw nameTaken(db)
      await connection.run(async (client) => {
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
      await connection.run(async (client) => {
        if (!(await isOurs(client, database))) throw notOnServer(database.physical_name)
        await endUser(client, database, log)
        await makeUser(client, database, password)
      })
    },

    async remove(database) {
      await connection.run(async (client) => {
        if (!(await isOurs(client, database))) return
        await endUser(client, database, log)
        await client.db(database.physical_name).dropDatabase()
        // Last, because the role marks the rest as ours.
        await client
          .db(database.physical_name)
          .command({ dropRole: markerOf(database) })
          .catch(unless(MongoErrorCode.roleNotFound))
      })
    },

    async close() {
      await connection.close()
      await close?.()
    },
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
async function endUser(
  client: MongoClient,
  { physical_name: db, username: user }: ServerDatabase,
  log: Logger,
): Promise<void> {
  await client.db(db).command({ dropUser: user }).catch(unless(MongoErrorCode.userNotFound))
  await client
    .db('admin')
    .command({ killAllSessions: [{ user, db }] })
    .catch((error: unknown) => {
      // Some hosted servers forbid it. The rights are revoked in any case.
      log.warn({ code: mongoCodeOf(error), database: db }, 'failed to end the sessions of a database’s user')
    })
}

async function countCollections(
  client: MongoClient,
  { physical_name }: ServerDatabase,
  end: AbortSignal,
): Promise<number> {
  // The driver ignores `timeoutMS`.
  const signal = AbortSignal.any([end, AbortSignal.timeout(COUNT_MS)])
  const collections = await client.db(physical_name).listCollections({}, { nameOnly: true, signal }).toArray()
  return collections.filter(({ name }) => !name.startsWith('system.')).length
}

/** The address for clients of a database, with a URL if host and port are not enough. */
function addressOf(
  { scheme, hosts, options }: MongoUrl,
  username: string,
  password: string,
  database: string,
): { host: string; port: number; connectionString?: string } {
  const address = { host: hosts[0]?.host ?? '', port: hosts[0]?.port ?? DEFAULT_PORT }
  for (const name of [...options.keys()]) if (!FOR_CLIENTS.includes(name.toLowerCase())) options.delete(name)
  if (scheme === 'mongodb' && hosts.length === 1 && options.size === 0) return address
  // SRV names, replica sets and TLS need a URL.
  options.set('authSource', database)
  const list = hosts.map(({ host, port }) => (port === undefined ? host : `${host}:${port}`)).join(',')
  return {
    ...address,
    connectionString: `${scheme}://${username}:${password}@${list}/${database}?${options.toString()}`,
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
