import { sql, type Kysely } from 'kysely'

/** The activity log. Triggers allow only inserts, and deletes after 90 days, so that no bug can change an entry. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('activity')
    .addColumn('id', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity())
    .addColumn('at', 'timestamptz', (column) => column.notNull())
    // A copy, not a reference: entries outlive their users.
    .addColumn('username', 'text')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('subject', 'text')
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('succeeded', 'boolean', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('activity_kind').on('activity').columns(['kind', 'id']).execute()
  await db.schema.createIndex('activity_at').on('activity').column('at').execute()
  await sql`
    create function keep_activity() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and tg_level = 'ROW' then
        if old.at < now() - interval '90 days' then return old; end if;
      end if;
      raise exception 'entries of the activity log are kept as they are for 90 days' using errcode = 'restrict_violation';
    end $$`.execute(db)
  await sql`create trigger activity_is_kept before update or delete on activity for each row execute function keep_activity()`.execute(
    db,
  )
  await sql`create trigger activity_is_not_emptied before truncate on activity for each statement execute function keep_activity()`.execute(
    db,
  )
}
