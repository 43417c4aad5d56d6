import { sql, type Kysely } from 'kysely'

/** The databases that users made, with how far each change of them got. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('databases')
    .addColumn('id', 'uuid', (column) => column.primaryKey())
    // sql or mongo.
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    // What the server calls it: names that it does not take are derived.
    .addColumn('physical_name', 'text', (column) => column.notNull())
    .addColumn('username', 'text', (column) => column.notNull())
    // Sealed (see secrets.ts), under the row's id.
    .addColumn('password', 'text', (column) => column.notNull())
    // Written before the server is touched, so that a change that was cut off can be finished.
    .addColumn('state', 'text', (column) =>
      column.notNull().check(sql`state in ('creating', 'ready', 'resetting', 'deleting')`),
    )
    .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .execute()
  await sql`create unique index databases_name on databases (type, name)`.execute(db)
  await sql`create unique index databases_physical_name on databases (type, physical_name)`.execute(db)
  // MongoDB has no two databases whose names differ in case only.
  await sql`create unique index databases_mongo_name on databases (lower(name)) where type = 'mongo'`.execute(db)
}
