import type { Pool, PoolClient } from 'pg'
import { beat } from '../state/heartbeats'
import { reconcile, type ReconcileParts } from './reconcile'

/** The advisory lock of the one manager among all replicas: any number that nobody else uses. */
const LOCK = 7_230_001
const INTERVAL_MS = 5000

export interface Manager {
  /** Has it look at once: something changed. */
  wake(): void
  /** Whether it is the one at work. */
  readonly isActive: boolean
  /** Stops looking after instances; they run on. */
  close(): Promise<void>
}

/**
 * Keeps the wanted instances running: reconciles after each change and at least every 5 s, and writes a heartbeat every
 * 5 s. Of several platforms on one state, one is manager at a time.
 */
export function startManager(given: Omit<ReconcileParts, 'excessSince'> & { pool: Pool }): Manager {
  const { pool, runtime, db, log } = given
  const parts: ReconcileParts = { ...given, excessSince: new Map() }
  let lock: PoolClient | undefined
  let closed = false
  let again = false
  let busy: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function takeLock(): Promise<boolean> {
    if (lock) return true
    const client = await pool.connect()
    // With its connection the lock is gone, perhaps to another replica.
    client.on('error', () => {
      if (lock !== client) return
      lock = undefined
      client.release(true)
    })
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [LOCK])
    if (rows[0]?.taken && !closed) lock = client
    else client.release()
    return lock !== undefined
  }

  async function look(): Promise<void> {
    let wait = INTERVAL_MS
    try {
      do {
        again = false
        if (await takeLock()) wait = Math.min(INTERVAL_MS, (await reconcile(parts)) ?? INTERVAL_MS)
      } while (again && !closed)
    } catch (error) {
      log.error({ err: error }, 'the manager could not look after the instances; it tries again')
    }
    clearTimeout(timer)
    if (!closed) timer = setTimeout(wake, wait)
  }

  function wake(): void {
    if (closed) return
    again = true
    busy ??= look().finally(() => {
      busy = undefined
      if (again) wake()
    })
  }

  const heart = setInterval(() => {
    if (lock) beat(db).catch((error: unknown) => log.warn({ err: error }, 'the heartbeat could not be written'))
  }, INTERVAL_MS)
  const unwatch = runtime.watch(wake)
  wake()
  void busy?.then(() => (lock ? beat(db) : undefined)).catch(() => undefined)

  return {
    wake,
    get isActive() {
      return lock !== undefined
    },
    async close() {
      closed = true
      clearTimeout(timer)
      clearInterval(heart)
      unwatch()
      await busy
      // The connection goes, and the lock with it.
      lock?.release(true)
      lock = undefined
    },
  }
}
