import { DatabaseResponse } from '../../contract/database'
import { dataOf } from '../api/client'
import type { Session } from '../session'
import { printTable } from '../terminal/terminal'

/** Creates a database, and prints its credentials. */
export async function createDatabase({ terminal, api }: Session, type: 'sql' | 'mongo', name: string): Promise<void> {
  const params = { path: { type } }
  const { credentials } = dataOf(
    await api.calls.POST('/api/database/{type}', { params, body: { name } }),
    DatabaseResponse,
  )
  if (terminal.isJson) return terminal.json({ name, credentials })
  printTable(
    terminal,
    ['SETTING', 'VALUE'],
    Object.entries(credentials).map(([setting, value]) => [setting, String(value)]),
  )
}
