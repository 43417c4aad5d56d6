import type { Kysely } from 'kysely'

/** State of late-start notices, blocks that end by themselves, and drains. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('instances')
    // The run whose late start was written to its console.
    .addColumn('late_run', 'text')
    // Whether the manager retries the start in each pass, because the cause of the block may disappear.
    .addColumn('block_lifts', 'boolean', (column) => column.notNull().defaultTo(false))
    // The run to drain, the action after it (`stop`, `restart` or `gone`), and when its drain command was sent.
    .addColumn('drain_run', 'text')
    .addColumn('drain_then', 'text')
    .addColumn('drain_since', 'timestamptz')
    .execute()
}
