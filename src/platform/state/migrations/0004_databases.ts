import { sql, type Kysely } from 'kysely'

/** The databases of users, with the progress of each change. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('databases')
    .addColumn('id', 'uuid', (column) => column.primaryKey())
    // sql or mongo.
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    // The name on the server, derived if the server does not accept the user's name.
    .addColumn('physical_name', 'text', (column) => column.notNull())
    .addColumn('username', 'text', (column) => column.notNull())
    // Sealed (see secrets.ts) with the row's id as owner.
    .addColumn('password', 'text', (column) => column.notNull())
    // Written before the server is changed, so that an interrupted change can be completed.
    .addColumn('state', 'text', (column) =>
      column.notNull().check(sql`state in ('creating', 'ready', 'resetting', 'deleting')`),
    )
    .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .execute()
  await sql`create unique index databases_name on databases (type, name)`.execute(db)
  await sql`create unique index databases_physical_name on databases (type, physical_name)`.execute(db)
  // MongoDB has no two databases whose names differ only in case.
  await sql`create unique index databases_mongo_name on databases (lower(name)) where type = 'mongo'`.execute(db)
}
