import { sql, type Kysely } from 'kysely'

/** Deployments, their instances, and the manager's heartbeat. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('deployments')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('type', 'text', (column) => column.notNull())
    // The YAML as its author wrote it: the source of truth.
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('enabled', 'boolean', (column) => column.notNull().defaultTo(false))
    // Its instances are ended first; the row goes last.
    .addColumn('deleting', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .execute()
  await sql`create unique index deployments_one_proxy on deployments (type) where type = 'proxy'`.execute(db)

  await db.schema
    .createTable('instances')
    .addColumn('uid', 'uuid', (column) => column.primaryKey())
    .addColumn('deployment', 'text', (column) => column.notNull().references('deployments.name').onDelete('cascade'))
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('pod_name', 'text', (column) => column.notNull().unique())
    // The lowest number that no other instance of the deployment has: tells their ports apart on one machine.
    .addColumn('slot', 'integer', (column) => column.notNull())
    // What its users want of it: an instance that was stopped by hand stays stopped.
    .addColumn('wanted', 'text', (column) => column.notNull().defaultTo('running'))
    .addColumn('blocked_reason', 'text')
    // The run whose end has been dealt with, so that no end counts twice.
    .addColumn('handled_run', 'text')
    // When it ended by itself: milliseconds since the epoch, oldest first.
    .addColumn('crashes', 'jsonb', (column) => column.notNull().defaultTo(sql`'[]'::jsonb`))
    .addColumn('start_after', 'timestamptz')
    // The run that a restart is to replace; null when none is asked for.
    .addColumn('restart_run', 'text')
    .addColumn('created_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
    .execute()
  await sql`create unique index instances_slot on instances (deployment, slot)`.execute(db)

  await db.schema
    .createTable('heartbeats')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('at', 'timestamptz', (column) => column.notNull())
    .execute()
}
