import { AppError } from '../errors'
import type { DatabaseRow } from '../state/databases'

/** A database as its server knows it. */
export type ServerDatabase = Pick<DatabaseRow, 'id' | 'physical_name' | 'username'>

/** Without what cannot be read now. */
export interface Measure {
  /** Bytes. */
  size?: number
  /** How many tables or collections. */
  tables?: number
}

/**
 * A server that users' databases are on. Every change may have been cut off anywhere and can be made again; none touches
 * a database, role or user that was not made here. Every call throws AppError UNAVAILABLE when the server is not there.
 */
export interface DatabaseServer {
  /** Brings up what must run for these databases. Cheap when all is up: called before each listing. */
  open(databases: (ServerDatabase & { password: string })[]): Promise<void>
  /** Where a client reaches a database; where host and port do not say it all, with a URL. */
  address(
    database: ServerDatabase,
    password: string,
  ): Promise<{ host: string; port: number; connectionString?: string }>
  /** Of each database by its id. */
  measure(databases: ServerDatabase[]): Promise<Map<string, Measure>>
  /** @throws AppError NAME_TAKEN when the server has a database, role or user of that name already; then nothing was made */
  create(database: ServerDatabase, password: string): Promise<void>
  /** Ends the connections of the old password. @throws AppError CONFLICT when the server has no such user of ours */
  setPassword(database: ServerDatabase, password: string): Promise<void>
  /** Ends open connections first. What is not there, or not ours, is left alone. */
  remove(database: ServerDatabase): Promise<void>
  close(): Promise<void>
}

/** What marks a role or user as made for a database of the console. */
export function markOf({ id }: ServerDatabase): string {
  return `quarterdeck-${id}`
}

/** What a create says of a name that the server has for something of somebody else's. */
export function nameTaken(name: string): AppError {
  return new AppError(
    'NAME_TAKEN',
    `The server has a database or user named "${name}" already, which was not made here. Choose another name.`,
  )
}

/** What a reset says when its user was removed on the server by other means. */
export function notOnServer(name: string): AppError {
  return new AppError(
    'CONFLICT',
    `The server does not have the user of the database "${name}" any more. Delete the database and create it anew.`,
  )
}
