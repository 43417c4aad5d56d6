import { constants } from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Logger } from 'pino'
import { AppError, errorCodeOf } from '../../errors'
import type { Secrets } from '../../state/secrets'
import type { DatabaseServer } from '../databaseServer'
import { createFerret } from './ferretdb'
import { runMongod } from './mongod'
import { createMongoRoles } from './mongoRoles'

export interface MongoParts {
  /** An administrator's URL (`QUARTERDECK_MONGO_URL`). Without it a server on the PATH is run. */
  url: string | undefined
  dataDir: string
  /** Directories to search, in the format of PATH. */
  path: string
  secrets: Secrets
  log: Logger
}

const PROGRAMS = ['mongod', 'ferretdb'] as const

/**
 * Users' MongoDB databases: on the configured server, else on a mongod or ferretdb from the PATH that runs beside the
 * platform in `<dataDir>/mongo`. Each call searches again until one is found.
 */
export function createMongo(parts: MongoParts): DatabaseServer {
  let chosen: Promise<DatabaseServer> | undefined

  async function server(): Promise<DatabaseServer> {
    chosen ??= choose(parts).catch((error: unknown) => {
      chosen = undefined
      throw error
    })
    return chosen
  }

  return {
    open: async (databases) => (await server()).open(databases),
    address: async (database, password) => (await server()).address(database, password),
    stats: async (databases) => (await server()).stats(databases),
    create: async (database, password) => (await server()).create(database, password),
    setPassword: async (database, password) => (await server()).setPassword(database, password),
    remove: async (database) => (await server()).remove(database),
    close: async () => (await chosen?.catch(() => undefined))?.close(),
  }
}

async function choose({ url, dataDir, path, secrets, log }: MongoParts): Promise<DatabaseServer> {
  if (url !== undefined)
    return createMongoRoles({
      url: async () => url,
      title: 'The MongoDB server of QUARTERDECK_MONGO_URL',
      remedy: 'Start it or correct the setting.',
      log,
    })
  const directoryOf = (name: string) => join(dataDir, 'mongo', name)
  // The program that created the existing databases must run them.
  let kept: (typeof PROGRAMS)[number] | undefined
  for (const name of PROGRAMS) if (await hasFiles(directoryOf(name), log)) kept ??= name
  for (const name of kept ? [kept] : PROGRAMS) {
    const program = await find(name, path)
    if (program === undefined) continue
    log.info({ program }, `MongoDB databases run on ${name}`)
    if (name === 'ferretdb') return createFerret({ path: program, directory: directoryOf(name), log })
    const mongod = runMongod({ path: program, directory: directoryOf(name), secrets, log })
    return createMongoRoles({
      url: () => mongod.url(),
      title: 'The MongoDB server that the platform runs',
      remedy: 'It restarts automatically.',
      log,
      close: () => mongod.stop(),
    })
  }
  if (kept)
    throw new AppError(
      'UNAVAILABLE',
      `The MongoDB databases were created with ${kept}, which is no longer on the PATH. Install it again.`,
    )
  throw new AppError(
    'NOT_CONFIGURED',
    'There is no MongoDB server. Install mongod or ferretdb on the PATH, or set QUARTERDECK_MONGO_URL to the URL of a server.',
  )
}

/** @throws AppError UNAVAILABLE if that cannot be read: another program would hide the existing databases */
async function hasFiles(directory: string, log: Logger): Promise<boolean> {
  try {
    return (await readdir(directory)).length > 0
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return false
    log.error({ err: error }, 'failed to read the directory of the MongoDB databases')
    throw new AppError('UNAVAILABLE', 'The directory of the MongoDB databases cannot be read. Try again in a moment.')
  }
}

async function find(name: string, path: string): Promise<string | undefined> {
  for (const directory of path.split(delimiter).filter(Boolean)) {
    const program = join(directory, name)
    if (
      await access(program, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return program
  }
  return undefined
}
