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
    // The row is deleted after the last instance has ended.
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
    // The lowest number unused by other instances of the deployment. It determines the port.
    .addColumn('slot', 'integer', (column) => column.notNull())
    // Desired state: an instance that a user stopped stays stopped.
    .addColumn('wanted', 'text', (column) => column.notNull().defaultTo('running'))
    .addColumn('blocked_reason', 'text')
    // The run whose end was handled, so that no end counts twice.
    .addColumn('handled_run', 'text')
    // Times of crashes in milliseconds since the epoch, oldest first.
    .addColumn('crashes', 'jsonb', (column) => column.notNull().defaultTo(sql`'[]'::jsonb`))
    .addColumn('start_after', 'timestamptz')
    // The run that a restart is to replace; null without a pending restart.
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
