import type { Logger } from 'pino'
import type { DatabaseRow, NewDatabaseRow } from '../state/databases'
import type { Secrets } from '../state/secrets'

const PURPOSE = 'database password'

/** The passwords of users' databases, sealed in their rows (decisions §8). */
export interface DatabasePasswords {
  /** @param id of the row, which the sealed password belongs to */
  seal(password: string, id: string): string
  /** @throws Error when the row was sealed with another key file */
  unseal(row: NewDatabaseRow): string
  /** Empty when the row was sealed with another key file, so that it can be listed: a reset corrects it. */
  tryUnseal(row: DatabaseRow): string
}

export function createDatabasePasswords(secrets: Secrets, log: Logger): DatabasePasswords {
  const unseal = ({ id, password }: NewDatabaseRow) => secrets.unseal(password, PURPOSE, id)
  return {
    seal: (password, id) => secrets.seal(password, PURPOSE, id),
    unseal,
    tryUnseal(row) {
      try {
        return unseal(row)
      } catch {
        log.warn(
          { type: row.type, name: row.name },
          'cannot decrypt the password of a database with this key file; reset the password',
        )
        return ''
      }
    },
  }
}
