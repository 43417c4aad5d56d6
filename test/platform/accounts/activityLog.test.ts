import type { InsertQueryBuilder, InsertResult } from 'kysely'
import pino from 'pino'
import { createActivityLog } from '../../../src/platform/accounts/activityLog'
import type { NewActivity } from '../../../src/platform/state/accounts/activity'
import type { State } from '../../../src/platform/state/schema'
import { freshState, onServer, type FreshState } from '../../support/platform/freshState'
import { until } from '../../support/platform/until'

let state: FreshState
const logged: { msg: string; lost?: number }[] = []
const log = pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line) as { msg: string }) })

beforeAll(async () => {
  state = await freshState()
})
afterAll(() => state.close())

const entry = (subject: string) => ({
  username: 'ann',
  kind: 'file' as const,
  // Of each, only some are recorded one by one.
  action: `deleted ${subject}`,
  subject,
  address: '::1',
  succeeded: true,
})

/** Simulates an outage: existing connections are terminated and new ones are refused. */
async function away(isAway: boolean): Promise<void> {
  const name = new URL(state.url).pathname.slice(1)
  await onServer(async (client) => {
    await client.query(`alter database ${name} allow_connections ${!isAway}`)
    if (isAway) await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
  })
}

/** Queries fail until the database is back; the activity log retries by itself. */
const written = (subject: string, count: number) =>
  until(
    async () =>
      (await state.pool.query('select 1 from activity where subject like $1', [`${subject} %`]).catch(() => undefined))
        ?.rowCount,
    (found) => found === count,
  )

test('entries recorded during a PostgreSQL outage are written in order after it recovers', async () => {
  const activity = createActivityLog(state.db, log, () => 1_700_000_000_000)
  await away(true)
  for (let number = 0; number < 1000; number++) activity.record(entry(`away ${number}`))
  await expect(activity.list({})).rejects.toThrow()
  await away(false)
  await written('away', 1000)
  const { entries } = await activity.list({})
  expect(entries.map(({ subject }) => subject)).toEqual(Array.from({ length: 100 }, (_entry, at) => `away ${999 - at}`))
  expect(entries[0]!.at).toBe(1_700_000_000_000)
  await activity.close()
})

test('entries whose insertion was not confirmed are not duplicated by the retry', async () => {
  let tries = 0
  const db = state.db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      tries += 1
      // The insertion was committed, but the connection broke before it was confirmed.
      if (tries === 1) throw new Error('Connection terminated unexpectedly')
      return result
    },
  })
  const activity = createActivityLog(db, log, Date.now)
  activity.record(entry('unconfirmed 0'))
  await until(
    async () => tries,
    (count) => count === 1,
  )
  activity.record(entry('unconfirmed 1'))
  await activity.close()
  expect(tries).toBe(2)
  const { rows } = await state.pool.query("select subject from activity where subject like 'unconfirmed %' order by id")
  expect(rows).toEqual([{ subject: 'unconfirmed 0' }, { subject: 'unconfirmed 1' }])
})

test('at most 10,000 entries are buffered, and the number of lost ones is logged', async () => {
  const activity = createActivityLog(state.db, log, Date.now)
  await away(true)
  for (let number = 0; number < 10_050; number++) activity.record(entry(`many ${number}`))
  await away(false)
  await written('many', 10_000)
  expect(logged.at(-1)).toMatchObject({
    msg: 'entries of the activity log were lost while the database was unavailable',
    lost: 50,
  })
  await activity.close()
})

type Insert = InsertQueryBuilder<State, 'activity', InsertResult>

test.each([0, 1, 2, 3, 4, 5, 6, 8])(
  'an entry recorded %d microtasks after a batch completes is written without another entry',
  async (moments) => {
    // The real database, with a callback for the moment at which it has answered.
    let answered: (() => Promise<void>) | undefined
    const db = new Proxy(state.db, {
      get: (target, name, receiver) =>
        name !== 'insertInto'
          ? (Reflect.get(target, name, receiver) as unknown)
          : () => ({
              values: (rows: NewActivity[]) => ({
                onConflict: (conflict: Parameters<Insert['onConflict']>[0]) => ({
                  execute: () =>
                    target
                      .insertInto('activity')
                      .values(rows)
                      .onConflict(conflict)
                      .execute()
                      .finally(() => void answered?.()),
                }),
              }),
            }),
    })
    const activity = createActivityLog(db, log, Date.now)
    answered = async () => {
      answered = undefined
      for (let moment = 0; moment < moments; moment++) await Promise.resolve()
      activity.record(entry(`second ${moments}`))
    }
    activity.record(entry(`first ${moments}`))
    await until(
      async () =>
        (
          await state.pool.query('select 1 from activity where subject in ($1, $2)', [
            `first ${moments}`,
            `second ${moments}`,
          ])
        ).rowCount === 2,
    )
    await activity.close()
  },
)

test('a shutdown flushes the buffered entries and logs those that cannot be written as lost', async () => {
  const activity = createActivityLog(state.db, log, Date.now)
  for (let number = 0; number < 300; number++) activity.record(entry(`end ${number}`))
  await activity.close()
  expect((await state.pool.query("select 1 from activity where subject like 'end %'")).rowCount).toBe(300)

  const late = createActivityLog(state.db, log, Date.now)
  await away(true)
  for (let number = 0; number < 3; number++) late.record(entry(`late ${number}`))
  await late.close()
  await away(false)
  expect(logged.at(-1)).toMatchObject({ msg: 'entries of the activity log were lost during the shutdown', lost: 3 })
})
