import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Db } from './db'

const INTERVAL_MS = 10 * 60_000
/** Download links are valid for a minute, and are issued and used at different replicas. */
const TOLERANCE_MS = 20_000

interface ClockParts {
  db: Db
  log: Pick<Logger, 'warn'>
  /** Milliseconds since the epoch. */
  now: () => number
}

/**
 * Warns, now and every ten minutes, if the clocks of this machine and PostgreSQL differ. One clock sets expiry times
 * and the other checks them: with PostgreSQL five minutes ahead, nobody could sign in.
 * @returns a function that stops it
 */
export function watchClock(parts: ClockParts): () => void {
  const check = () => void warnOfClock(parts).catch(() => undefined)
  const timer = setInterval(check, INTERVAL_MS)
  check()
  return () => clearInterval(timer)
}

/** Warns if the clocks differ by more than TOLERANCE_MS. @throws the database's error */
export async function warnOfClock({ db, log, now }: ClockParts): Promise<void> {
  const sentAt = now()
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(db)
  const receivedAt = now()
  const at = rows[0]?.at.getTime() ?? sentAt
  // The database's clock was read between the two.
  const ahead = at < sentAt ? at - sentAt : Math.max(0, at - receivedAt)
  if (Math.abs(ahead) <= TOLERANCE_MS) return
  log.warn(
    { seconds: Math.round(ahead / 1000) },
    `the clock of PostgreSQL is ${Math.round(Math.abs(ahead) / 1000)} s ${ahead > 0 ? 'ahead of' : 'behind'} this machine's: sign-ins, invites and download links expire too ${ahead > 0 ? 'early' : 'late'}. Synchronise both (NTP)`,
  )
}
