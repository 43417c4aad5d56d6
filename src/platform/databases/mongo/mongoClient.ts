import type { MongoClient, MongoClientOptions } from 'mongodb'
import { AppError } from '../../errors'
import { guardDriver } from './guardDriver'

/** An outage is reported within five seconds. */
const SELECTION_MS = 3000
/** The driver's errors for an unreachable server, rather than a wrong command. */
const UNREACHABLE = [
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

/** Creates a client. The driver is loaded with the first one. @throws MongoParseError for an invalid URL */
export async function openMongoClient(url: string, options: MongoClientOptions = {}): Promise<MongoClient> {
  const { MongoClient: Client } = await import('mongodb')
  await guardDriver()
  return new Client(url, {
    appName: 'quarterdeck',
    serverSelectionTimeoutMS: SELECTION_MS,
    connectTimeoutMS: SELECTION_MS,
    socketTimeoutMS: 30_000,
    maxPoolSize: 10,
    ...options,
  })
}

/** CommandNotFound, CommandNotSupported, NotImplemented, AtlasError: from hosted and compatible servers. */
const USER_MANAGEMENT_UNSUPPORTED = [59, 115, 238, 8000]

/** The server's error code (see MongoErrorCode); undefined for other errors. */
export function mongoCodeOf(error: unknown): number | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'number' ? code : undefined
}

/** Whether the server was unreachable, so that a retry may succeed. */
export function isMongoUnreachable(error: unknown): boolean {
  return error instanceof Error && UNREACHABLE.includes(error.name)
}

/** Whether MongoDB uses a database name itself. Ignores case. */
export function isReservedMongoName(name: string): boolean {
  return ['admin', 'local', 'config'].includes(name.toLowerCase())
}

/** The error for a setting's URL that the driver cannot parse. Does not quote the URL, which contains a password. */
export function invalidUrl(title: string): AppError {
  return new AppError('UNAVAILABLE', `${title} cannot be used: its URL is not valid. Correct the setting.`)
}

/** Converts an error of the driver to an AppError for operators, or returns it unchanged if it is a bug. */
export function mongoFailure(error: unknown, title: string, remedy: string): unknown {
  if (error instanceof AppError) return error
  if (isMongoUnreachable(error)) return new AppError('UNAVAILABLE', `${title} does not answer. ${remedy}`)
  const code = mongoCodeOf(error)
  if (code === MongoErrorCode.authenticationFailed)
    return new AppError('UNAVAILABLE', `${title} rejects the configured user or password. Correct them.`)
  if (code === MongoErrorCode.unauthorized)
    return new AppError(
      'UNAVAILABLE',
      `${title} does not allow its user to manage databases and users. Grant that user the roles userAdminAnyDatabase and dbAdminAnyDatabase, or root.`,
    )
  if (code !== undefined && USER_MANAGEMENT_UNSUPPORTED.includes(code))
    return new AppError(
      'UNAVAILABLE',
      `${title} does not support creating users and roles by commands. Use a server that does.`,
    )
  if (error instanceof Error && ['MongoParseError', 'MongoInvalidArgumentError', 'MongoAPIError'].includes(error.name))
    return invalidUrl(title)
  return error
}
