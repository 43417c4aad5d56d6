import { AppError } from '../errors'
import type { DatabaseRow } from '../state/databases'

export type ServerDatabase = Pick<DatabaseRow, 'id' | 'physical_name' | 'username'>

/** A value that cannot be read now is missing. */
export interface DatabaseStats {
  /** Bytes. */
  size?: number
  /** Number of tables or collections. */
  tables?: number
}

/**
 * A server with users' databases. Every change is idempotent and may be interrupted anywhere. None affects a database,
 * role or user that was created elsewhere. Every call throws AppError UNAVAILABLE when the server is down.
 */
export interface DatabaseServer {
  /** Starts what these databases need. Cheap when all is running: called before each listing. */
  open(databases: (ServerDatabase & { password: string })[]): Promise<void>
  /** The address for clients of a database, with a URL if host and port are not enough. */
  address(
    database: ServerDatabase,
    password: string,
  ): Promise<{ host: string; port: number; connectionString?: string }>
  /** By the databases' ids. */
  stats(databases: ServerDatabase[]): Promise<Map<string, DatabaseStats>>
  /** @throws AppError NAME_TAKEN, before any change, if the server has a database, role or user of that name */
  create(database: ServerDatabase, password: string): Promise<void>
  /** Ends connections that use the old password. @throws AppError CONFLICT if the server has no such user of ours */
  setPassword(database: ServerDatabase, password: string): Promise<void>
  /** Ends open connections first. Ignores what is missing or not ours. */
  remove(database: ServerDatabase): Promise<void>
  close(): Promise<void>
}

/** The marker of roles and users that were created for a database of the console. */
export function markerOf({ id }: ServerDatabase): string {
  return `quarterdeck-${id}`
}

/** The error for a name that the server uses for something created elsewhere. */
export function nameTaken(name: string): AppError {
  return new AppError(
    'NAME_TAKEN',
    `The server already has a database or user named "${name}" that was not created here. Choose another name.`,
  )
}

/** The error for a user who was removed on the server by other means. */
export function notOnServer(name: string): AppError {
  return new AppError(
    'CONFLICT',
    `The user of the database "${name}" no longer exists on the server. Delete the database and create it again.`,
  )
}
