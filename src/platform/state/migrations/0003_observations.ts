import { sql, type Kysely } from 'kysely'

/** Metrics of instances, and records of their ends. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('metrics')
    .addColumn('pod_name', 'text', (column) => column.notNull())
    .addColumn('at', 'timestamptz', (column) => column.notNull())
    // mCPU and KiB.
    .addColumn('cpu', 'double precision', (column) => column.notNull())
    .addColumn('memory', 'double precision', (column) => column.notNull())
    .addPrimaryKeyConstraint('metrics_key', ['pod_name', 'at'])
    .execute()
  await db.schema.createIndex('metrics_at').on('metrics').column('at').execute()

  await db.schema
    .alterTable('instances')
    .addColumn('restarts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('last_exit', 'jsonb')
    // The capsule and the time of the last crash.
    .addColumn('crash', 'jsonb')
    .addColumn('crashed_at', 'timestamptz')
    .execute()
  await sql`comment on column instances.crash is 'CrashCapsule of the contract'`.execute(db)
}
