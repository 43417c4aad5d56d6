import pino from 'pino'
import { startStatePostgres } from '../../../src/platform/postgres/statePostgres'
import { createUsersPostgres } from '../../../src/platform/postgres/usersPostgres'
import { migrateState, openStateDatabase, type Db } from '../../../src/platform/state/db'

const log = pino({ level: 'silent' })

/** Starts the embedded server of the state. @param users the server of users' databases in the same data directory */
export const startStateServer = (dataDir: string, users = createUsersPostgres(dataDir, log)) =>
  startStatePostgres({ dataDir, users, migrate: migrateState, log })

/** Starts the embedded server of the state, passes its database to `work`, and stops the server. */
export async function withState<Result>(
  dataDir: string,
  work: (db: Db) => Promise<Result>,
  users = createUsersPostgres(dataDir, log),
): Promise<Result> {
  const postgres = await startStateServer(dataDir, users)
  const state = await openStateDatabase(postgres.url)
  try {
    return await work(state.db)
  } finally {
    await state.close()
    await postgres.stop()
  }
}

/** Stores a fact, by which `keptFacts` recognises the state. */
export const keepFact = (db: Db) => db.insertInto('facts').values({ name: 'kept', value: 'yes' }).execute()

export const keptFacts = async (db: Db) =>
  (await db.selectFrom('facts').select('value').where('name', '=', 'kept').execute()).map(({ value }) => value)
