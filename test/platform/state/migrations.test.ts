import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type Migration,
} from 'kysely'

const directory = join(__dirname, '../../../src/platform/state/migrations')

/**
 * Statements of migrations that replicas of the version before may not survive, each with the reason why it is allowed:
 * they run on while a rolling update replaces them one by one.
 */
const allowed: Record<string, string> = {
  // None yet. For example, with the number of the migration:
  // '0023: alter table "users" drop column "totp_secret"': 'Not read since the release before (0016).',
}

/** Why replicas of the previous version would not survive a statement; undefined if they would. */
function refusalOf(statement: string): string | undefined {
  const text = statement.toLowerCase().replaceAll(/\s+/g, ' ').trim()
  if (/^drop (?:table|view|schema|type)/.test(text)) return 'removes a table'
  if (!text.startsWith('alter table')) return undefined
  if (/\bdrop (?:column\b|")/.test(text)) return 'removes a column'
  if (/\brename\b/.test(text)) return 'renames'
  if (/\bset not null\b/.test(text)) return 'refuses null, which the version before may write'
  if (/\bdrop default\b/.test(text)) return 'removes a default on which inserts of the version before rely'
  if (/\balter column \S+ (?:set data )?type\b/.test(text)) return 'changes the type of a column'
  const added = text.split(/\badd column\b/).slice(1)
  if (added.some((column) => /\bnot null\b/.test(column) && !/\bdefault\b/.test(column)))
    return 'adds a column that inserts of the version before do not fill'
  return undefined
}

/** The statements of a migration, which is run without a database. */
async function statementsOf({ up }: Migration): Promise<string[]> {
  const statements: string[] = []
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query.sql),
  })
  await up(db)
  return statements
}

const files = readdirSync(directory).sort()

test('the files of migrations are numbered without gaps', () => {
  expect(files.map((file) => Number(file.slice(0, 4)))).toEqual(files.map((_file, at) => at + 1))
})

test.each(files)('migration %s keeps everything that replicas of the previous version use', async (file) => {
  const migration = (await import(join(directory, file))) as Migration
  const statements = await statementsOf(migration)
  expect(statements).not.toEqual([])
  const refused = statements.flatMap((statement) => {
    const refusal = refusalOf(statement)
    const name = `${file.slice(0, 4)}: ${statement.replaceAll(/\s+/g, ' ').trim()}`
    return refusal !== undefined && allowed[name] === undefined ? [`${name} ${refusal}`] : []
  })
  expect(refused).toEqual([])
})

test.each([
  ['drop table grants', 'removes a table'],
  ['alter table "users" drop column "totp_secret"', 'removes a column'],
  ['alter table "users" add column "a" text, drop column "totp_secret"', 'removes a column'],
  ['alter table "users" rename column "a" to "b"', 'renames'],
  ['alter table users rename to accounts', 'renames'],
  ['alter table "users" alter column "a" set not null', 'refuses null'],
  ['alter table "users" alter column "a" drop default', 'removes a default'],
  ['alter table users\n  alter column a type bigint', 'changes the type'],
  ['alter table "users" add column "a" text not null', 'do not fill'],
  ['alter table "users" add column "a" text not null default \'\', add column "b" text not null', 'do not fill'],
])('a migration with %j would be refused', (statement, reason) => {
  expect(refusalOf(statement)).toContain(reason)
})

test.each([
  'create table "new" ("id" uuid not null)',
  'alter table "users" add column "a" text',
  'alter table "users" add column "a" boolean default false not null',
  'alter table "users" alter column "a" drop not null',
  'alter table "users" drop constraint "users_one_role"',
  'update users set a = 1',
])('a migration with %j is accepted', (statement) => {
  expect(refusalOf(statement)).toBeUndefined()
})
