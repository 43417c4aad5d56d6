import { chown, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { escapeIdentifier, escapeLiteral } from 'pg'
import { withAdministrator, withDatabase } from './postgresAdministrator'
import { postgresOwner } from './postgresBinaries'

/** The name of the platform's database and of the role that owns it. */
export const STATE_NAME = 'quarterdeck'

/**
 * Whether a server has the platform's database. A user may have created one of that name, whose role has a mark
 * (databases/databaseServer.ts) that only a superuser can remove.
 * @param adminUrl a superuser's URL
 */
export async function hasState(adminUrl: string): Promise<boolean> {
  return withAdministrator(adminUrl, async (admin) => {
    const { rowCount } = await admin.query(
      `select 1 from pg_database
       where datname = $1 and coalesce(shobj_description(datdba, 'pg_authid'), '') not like 'quarterdeck-%'`,
      [STATE_NAME],
    )
    return Boolean(rowCount)
  })
}

/** Migrates the state in a database to the newest schema. @throws StartError if a newer version wrote the state */
export type Migrate = (url: string) => Promise<void>

export interface StateCopy {
  dataDir: string
  /** A superuser's URL of the embedded server that has the state. */
  from: string
  /** The URL of an empty database of another embedded server, as its owner. */
  to: string
  /** The URL of the same database as a superuser. */
  toAsAdmin: string
  migrate: Migrate
}

/**
 * Copies the platform's database to another embedded server, through files that both servers can read and write.
 * @throws StartError when the state was written by a newer version, DatabaseError when a copy fails
 */
export async function copyState({ dataDir, from, to, toAsAdmin, migrate }: StateCopy): Promise<void> {
  const source = withDatabase(from, STATE_NAME)
  // Both get the newest schema, so that their tables are the same.
  for (const url of [source, to]) await migrate(url)
  const directory = join(dataDir, 'state.moving')
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { mode: 0o700 })
  const owner = postgresOwner()
  if (owner !== undefined) await chown(directory, owner, owner)
  try {
    const { tables, sequences } = await writeTables(source, directory)
    await readTables(toAsAdmin, directory, tables, sequences)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Removes the platform's database and its role from a server, if they are there. @param adminUrl a superuser's URL */
export async function dropState(adminUrl: string): Promise<void> {
  if (await hasState(adminUrl))
    await withAdministrator(adminUrl, (admin) => admin.query(`drop database ${STATE_NAME} with (force)`))
  await withAdministrator(adminUrl, async (admin) => {
    // Excludes the role of a user's database.
    const { rowCount } = await admin.query(
      `select 1 from pg_roles
       where rolname = $1 and coalesce(shobj_description(oid, 'pg_authid'), '') not like 'quarterdeck-%'`,
      [STATE_NAME],
    )
    if (rowCount) await admin.query(`drop role ${STATE_NAME}`)
  })
}

interface Sequence {
  name: string
  /** Null if the sequence was never used. */
  last: string | null
}

async function writeTables(url: string, directory: string): Promise<{ tables: string[]; sequences: Sequence[] }> {
  return withAdministrator(url, async (admin) => {
    const { rows } = await admin.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public'",
    )
    const tables = rows.map(({ name }) => name)
    for (const table of tables) await admin.query(`copy ${escapeIdentifier(table)} to ${file(directory, table)}`)
    const { rows: sequences } = await admin.query<Sequence>(
      "select sequencename as name, last_value::text as last from pg_sequences where schemaname = 'public'",
    )
    return { tables, sequences }
  })
}

async function readTables(url: string, directory: string, tables: string[], sequences: Sequence[]): Promise<void> {
  await withAdministrator(url, async (admin) => {
    await admin.query('begin')
    // No triggers: the order of the tables does not matter, and the migrations' own rows can be replaced.
    await admin.query('set local session_replication_role = replica')
    await admin.query(`truncate ${tables.map(escapeIdentifier).join(', ')}`)
    for (const table of tables) await admin.query(`copy ${escapeIdentifier(table)} from ${file(directory, table)}`)
    for (const { name, last } of sequences)
      if (last !== null) await admin.query('select setval($1::regclass, $2)', [escapeIdentifier(name), last])
    await admin.query('commit')
  })
}

const file = (directory: string, table: string) => escapeLiteral(join(directory, table))
