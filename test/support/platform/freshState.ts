import { randomBytes } from 'node:crypto'
import type { Client } from 'pg'
import { openStateDatabase, type StateDatabase } from '../../../src/platform/state/db'
import { withClient } from './postgresClients'

export interface FreshState extends StateDatabase {
  url: string
}

export async function onServer(work: (client: Client) => Promise<unknown>): Promise<void> {
  await withClient(process.env.TEST_POSTGRES_URL ?? '', work)
}

/**
 * Creates an empty database on the run's PostgreSQL, which `drop` removes.
 * @param options of CREATE DATABASE
 */
export async function freshDatabase(options = ''): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await onServer((client) => client.query(`create database ${name} ${options}`))
  const url = new URL(process.env.TEST_POSTGRES_URL ?? '')
  url.pathname = name
  return { url: url.href, drop: () => onServer((client) => client.query(`drop database ${name} with (force)`)) }
}

/** The database that `globalSetup` creates with the tables of a platform. */
export const MIGRATED_STATE = 'test_migrated_state'

/** Creates a copy of the migrated state, because each start would take a third of a second for its migrations. */
export const migratedDatabase = () => freshDatabase(`template ${MIGRATED_STATE}`)

/** Creates the state of a platform with all its tables, in a separate database. */
export async function freshState(): Promise<FreshState> {
  const { url, drop } = await migratedDatabase()
  const state = await openStateDatabase(url)
  return {
    ...state,
    url,
    async close() {
      await state.close()
      await drop()
    },
  }
}
