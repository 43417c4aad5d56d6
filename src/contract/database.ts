import { z } from 'zod'
import { success } from './envelope'
import { DATABASE_NAME_MAX_LENGTH, DATABASE_NAME_PATTERN, INVALID_DATABASE_NAME } from './rules'

export const DatabaseType = z.enum(['sql', 'mongo'])
export type DatabaseType = z.infer<typeof DatabaseType>

export const DatabaseName = z
  .string()
  .max(DATABASE_NAME_MAX_LENGTH, `must have at most ${DATABASE_NAME_MAX_LENGTH} characters`)
  .regex(DATABASE_NAME_PATTERN, INVALID_DATABASE_NAME)

export const Credentials = z.object({
  username: z.string(),
  password: z.string(),
  host: z.string(),
  port: z.number().int().min(1).max(65_535),
  /** The physical name: derived where the server does not take the name itself. */
  database: z.string().optional(),
  connectionString: z.string().optional(),
})
export type Credentials = z.infer<typeof Credentials>

export const Database = z.object({
  name: z.string(),
  /** Bytes. Left out, as the next one, where the server cannot tell now. */
  size: z.number().nonnegative().optional(),
  /** How many tables or collections. */
  tables: z.number().int().nonnegative().optional(),
  credentials: Credentials,
})
export type Database = z.infer<typeof Database>

export const DatabasesAnswer = success(z.object({ databases: z.array(Database) }))
export type DatabasesAnswer = z.infer<typeof DatabasesAnswer>

export const CreateDatabase = z.strictObject({ name: DatabaseName })
export type CreateDatabase = z.infer<typeof CreateDatabase>

/** Of POST, and of PATCH, which makes a new password. */
export const DatabaseAnswer = success(Database)
export type DatabaseAnswer = z.infer<typeof DatabaseAnswer>
