import { sql, type Kysely } from 'kysely'

/** Consoles of instances that do not run on this machine: the cluster deletes its logs with the Pod. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('consoles')
    .addColumn('pod_name', 'text', (column) => column.primaryKey())
    // The number of the newest line.
    .addColumn('last', 'bigint', (column) => column.notNull().defaultTo(0))
    // The run whose output was stored last, the number of its first line, and how far it was stored: the time of its
    // newest line, and how many lines have that time.
    .addColumn('run_id', 'text')
    .addColumn('run_first', 'bigint', (column) => column.notNull().defaultTo(1))
    .addColumn('read_to', 'text')
    .addColumn('read_count', 'integer', (column) => column.notNull().defaultTo(0))
    // The last run whose output and end were stored completely.
    .addColumn('complete_run', 'text')
    // The platform that reads the output of the run, until its lease expires.
    .addColumn('reader', 'text')
    .addColumn('reader_until', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .execute()
  await db.schema
    .createTable('console_chunks')
    .addColumn('pod_name', 'text', (column) => column.references('consoles.pod_name').onDelete('cascade'))
    // The numbers of the first and the last line of the chunk.
    .addColumn('first', 'bigint')
    .addColumn('last', 'bigint', (column) => column.notNull())
    // One line each: a letter for its type, then its content.
    .addColumn('lines', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('console_chunks_pkey', ['pod_name', 'first'])
    .execute()
}
