import type { Pool, PoolClient } from 'pg'
import { tryAdvisoryLock } from '../state/advisoryLock'
import { beat } from '../state/heartbeats'
import { reconcile } from './reconcile'
import type { ReconcileParts } from './reconcileParts'

/** The advisory lock of the one manager among all replicas: any number that nobody else uses. */
const LOCK = 7_230_001
const INTERVAL_MS = 5000
/** A manager that has not come round for this long does nobody any good. */
const STUCK_MS = 20_000

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
export function startManager(given: Omit<ReconcileParts, 'excessSince' | 'told'> & { pool: Pool }): Manager {
  const { pool, runtime, db, log } = given
  const parts: ReconcileParts = { ...given, excessSince: new Map(), told: new Map() }
  let lock: PoolClient | undefined
  let closed = false
  let again = false
  let busy: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let lookedAt = Date.now()

  /** With its connection the lock is gone, perhaps to another replica. */
  function giveUp(client: PoolClient): void {
    if (lock !== client) return
    lock = undefined
    client.release(true)
  }

  /** A connection may die without a word; who does not ask would manage on beside another. */
  async function isAlive(client: PoolClient): Promise<boolean> {
    try {
      await client.query('select 1')
    } catch {
      giveUp(client)
    }
    return lock === client
  }

  async function takeLock(): Promise<boolean> {
    if (lock && (await isAlive(lock))) return true
    const client = await pool.connect()
    let isTaken: boolean | undefined
    try {
      isTaken = (await tryAdvisoryLock(client, LOCK)) && !closed
    } finally {
      // Away with a connection whose state nobody knows, and the lock with it.
      if (!isTaken) client.release(isTaken === undefined || closed)
    }
    if (!isTaken) return false
    lock = client
    client.on('error', () => giveUp(client))
    return true
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
    parts.discovery.changed()
    lookedAt = Date.now()
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
    // It beats for work that goes on, not for a process that merely lives.
    if (lock && Date.now() - lookedAt < STUCK_MS)
      beat(db).catch((error: unknown) => log.warn({ err: error }, 'the heartbeat could not be written'))
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
