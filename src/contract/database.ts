import { z } from 'zod'
import { success } from './envelope'
import { DATABASE_NAME_MAX_LENGTH, DATABASE_NAME_PATTERN, INVALID_DATABASE_NAME } from './pageRules'

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
  database: z
    .string()
    .optional()
    .describe('The physical name, which is derived if the server does not allow the name itself.'),
  connectionString: z.string().optional(),
})
export type Credentials = z.infer<typeof Credentials>

export const Database = z.object({
  name: z.string(),
  size: z
    .number()
    .nonnegative()
    .optional()
    .describe('Bytes. Missing, like `tables`, if the server cannot be asked at the moment.'),
  tables: z.number().int().nonnegative().optional().describe('Number of tables or collections.'),
  credentials: Credentials,
})
export type Database = z.infer<typeof Database>

export const DatabasesResponse = success(z.object({ databases: z.array(Database) }))
export type DatabasesResponse = z.infer<typeof DatabasesResponse>

export const CreateDatabase = z.strictObject({ name: DatabaseName })
export type CreateDatabase = z.infer<typeof CreateDatabase>

/** Response of POST, and of PATCH, which sets a new password. */
export const DatabaseResponse = success(Database)
export type DatabaseResponse = z.infer<typeof DatabaseResponse>
