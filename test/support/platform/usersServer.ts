import { mkdirSync } from 'node:fs'
import pino from 'pino'
import { createUsersPostgres } from '../../../src/platform/postgres/usersPostgres'

/** Starts a PostgreSQL server for users' databases. @param dataDir is created. @returns it with the lines of its log */
export async function startUsersServer(dataDir: string) {
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  mkdirSync(dataDir, { mode: 0o711 })
  const users = createUsersPostgres(dataDir, log)
  const { adminUrl, endUsersSessions } = await users.start()
  return { users, adminUrl, endUsersSessions, log, lines }
}
