import type { MongoClient, MongoClientOptions } from 'mongodb'
import { AppError } from '../errors'

/** So long a call waits for a server: one that is away is said within five seconds. */
const SELECTION_MS = 3000
/** The driver's errors that say that the server is not there, rather than that a command was wrong. */
const AWAY = [
  'MongoServerSelectionError',
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoPoolClearedError',
  'MongoClientClosedError',
  'PoolClearedOnNetworkError',
]

export const MongoErrorCode = {
  unauthorized: 13,
  authenticationFailed: 18,
  userNotFound: 11,
  roleNotFound: 31,
} as const

/**
 * A client of a MongoDB server. The driver is loaded when it is first needed.
 * @throws MongoParseError for a URL that the driver does not understand.
 */
export async function openMongoClient(url: string, options: MongoClientOptions = {}): Promise<MongoClient> {
  const { MongoClient: Client } = await import('mongodb')
  return new Client(url, {
    appName: 'quarterdeck',
    serverSelectionTimeoutMS: SELECTION_MS,
    connectTimeoutMS: SELECTION_MS,
    socketTimeoutMS: 30_000,
    maxPoolSize: 10,
    ...options,
  })
}

/** CommandNotFound, CommandNotSupported, NotImplemented, AtlasError: hosted and imitating servers answer these. */
const NO_USERS = [59, 115, 238, 8000]

/** The number that the server gives a failure (see MongoErrorCode); undefined for what the driver or anybody else throws. */
export function mongoCodeOf(error: unknown): number | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'number' ? code : undefined
}

/** Whether a failure says that the server is not there, so that the same may succeed later. */
export function isAway(error: unknown): boolean {
  return error instanceof Error && AWAY.includes(error.name)
}

/** Names that MongoDB keeps for itself. */
export function isReservedMongoName(name: string): boolean {
  return ['admin', 'local', 'config'].includes(name.toLowerCase())
}

/** What is said of a URL that passed as a setting and means nothing to the driver. It is not quoted: it holds a password. */
export function notUnderstood(title: string): AppError {
  return new AppError('UNAVAILABLE', `${title} cannot be used: its URL is not one that the MongoDB driver understands.`)
}

/** Says a failure of the driver so that people understand it, or gives it back when it is a bug. */
export function explainMongo(error: unknown, title: string, remedy: string): unknown {
  if (error instanceof AppError) return error
  if (isAway(error)) return new AppError('UNAVAILABLE', `${title} does not answer. ${remedy}`)
  const code = mongoCodeOf(error)
  if (code === MongoErrorCode.authenticationFailed)
    return new AppError('UNAVAILABLE', `${title} refuses the user or password it is given.`)
  if (code === MongoErrorCode.unauthorized)
    return new AppError(
      'UNAVAILABLE',
      `${title} does not let its user manage databases and users: that needs the roles userAdminAnyDatabase and dbAdminAnyDatabase, or root.`,
    )
  if (code !== undefined && NO_USERS.includes(code))
    return new AppError(
      'UNAVAILABLE',
      `${title} does not let users and roles be made by commands: name a server of your own.`,
    )
  if (error instanceof Error && ['MongoParseError', 'MongoInvalidArgumentError', 'MongoAPIError'].includes(error.name))
    return notUnderstood(title)
  return error
}
