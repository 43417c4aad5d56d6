import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'
import * as accounts from '../../../src/platform/state/migrations/0001_accounts'
import * as authenticators from '../../../src/platform/state/migrations/0016_authenticators'
import { freshDatabase } from '../../support/platform/freshState'

test('the authenticator that a user had before keeps its secret and its last code', async () => {
  const { url, drop } = await freshDatabase()
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new Pool({ connectionString: url }) }) })
  try {
    await accounts.up(db)
    await sql`insert into users (username, password_hash, totp_secret, totp_last_step, is_admin)
      values ('ann', 'hash', 'sealed', 42, true)`.execute(db)
    await authenticators.up(db)
    const { rows } = await sql`
      select username, name, secret, last_step from authenticators join users on users.id = user_id`.execute(db)
    expect(rows).toEqual([{ username: 'ann', name: 'Authenticator app', secret: 'sealed', last_step: 42 }])
    // A replica of the version before, which a rolling update has not replaced yet, signs the user in by what it knows.
    const { rows: before } = await sql`select totp_secret, totp_last_step from users`.execute(db)
    expect(before).toEqual([{ totp_secret: 'sealed', totp_last_step: 42 }])
  } finally {
    await db.destroy()
    await drop()
  }
})
