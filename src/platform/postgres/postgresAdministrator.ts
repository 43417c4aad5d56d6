import type { ClientBase } from 'pg'
import { PostgresClient } from '../postgresClient'

/** Runs work on a dedicated connection, without a time limit. @param url a superuser's URL */
export async function withAdministrator<Result>(
  url: string,
  work: (admin: ClientBase) => Promise<Result>,
): Promise<Result> {
  const admin = new PostgresClient({ connectionString: url })
  // Without a listener a broken connection would end the process.
  admin.on('error', () => undefined)
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.end()
  }
}

/** The URL with another database. */
export function withDatabase(url: string, database: string): string {
  const target = new URL(url)
  target.pathname = `/${database}`
  return target.href
}
