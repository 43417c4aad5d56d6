import type { Kysely } from 'kysely'

/** What the manager has to remember of an instance to tell a thing once, to try again by itself, and to drain it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('instances')
    // The run whose late start was told in its console.
    .addColumn('late_run', 'text')
    // Whether the block ends by itself once its cause is gone: the start is tried again with each pass.
    .addColumn('block_lifts', 'boolean', (column) => column.notNull().defaultTo(false))
    // The run that is to be drained, what follows (`stop`, `restart` or `gone`), and when its drain command was sent.
    .addColumn('drain_run', 'text')
    .addColumn('drain_then', 'text')
    .addColumn('drain_since', 'timestamptz')
    .execute()
}
