import type { Pool, PoolClient } from 'pg'
import { tryAdvisoryLock } from '../../state/advisoryLock'
import { recordHeartbeat } from '../../state/heartbeats'
import { reconcile } from './reconcile'
import type { ReconcileContext } from './reconcileContext'

/** Key of the advisory lock that elects one manager among all replicas. Any number that no other lock uses. */
const MANAGER_LOCK_KEY = 7_230_001
const INTERVAL_MS = 5000
/** The heartbeat stops when no pass has finished for this long. */
const STALL_TIMEOUT_MS = 20_000

export interface Manager {
  /** Reconciles at once, after a change. */
  wake(): void
  /** Whether this platform holds the manager's lock. */
  readonly isActive: boolean
  /** Stops reconciling. The instances keep running. */
  close(): Promise<void>
}

/**
 * Reconciles after each change and at least every 5 s, and writes a heartbeat every 5 s. Of several platforms that
 * share one database, only the one that holds an advisory lock does so.
 */
export function startManager(
  options: Omit<ReconcileContext, 'excessSince' | 'loggedProblems'> & { pool: Pool },
): Manager {
  const { pool, runtime, db, log } = options
  const context: ReconcileContext = { ...options, excessSince: new Map(), loggedProblems: new Map() }
  let lock: PoolClient | undefined
  let closed = false
  let isWoken = false
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let lastPassAt = Date.now()

  /** The lock belongs to the connection, so another replica may hold it now. */
  function dropLock(client: PoolClient): void {
    if (lock !== client) return
    lock = undefined
    client.release(true)
  }

  /** A connection can die unnoticed. Without this query two replicas could manage at once. */
  async function isAlive(client: PoolClient): Promise<boolean> {
    try {
      await client.query('select 1')
    } catch {
      dropLock(client)
    }
    return lock === client
  }

  async function acquireLock(): Promise<boolean> {
    if (lock && (await isAlive(lock))) return true
    const client = await pool.connect()
    let isTaken: boolean | undefined
    try {
      isTaken = (await tryAdvisoryLock(client, MANAGER_LOCK_KEY)) && !closed
    } finally {
      // A connection in an unknown state is closed, because it may hold the lock.
      if (!isTaken) client.release(isTaken === undefined || closed)
    }
    if (!isTaken) return false
    lock = client
    client.on('error', () => dropLock(client))
    return true
  }

  async function runPass(): Promise<void> {
    let delay = INTERVAL_MS
    try {
      do {
        isWoken = false
        if (await acquireLock()) delay = Math.min(INTERVAL_MS, (await reconcile(context)) ?? INTERVAL_MS)
      } while (isWoken && !closed)
    } catch (error) {
      log.error({ err: error }, 'the manager failed to check the instances; retrying')
    }
    context.discovery.scheduleUpdate()
    lastPassAt = Date.now()
    clearTimeout(timer)
    if (!closed) timer = setTimeout(wake, delay)
  }

  function wake(): void {
    if (closed) return
    isWoken = true
    running ??= runPass().finally(() => {
      running = undefined
      if (isWoken) wake()
    })
  }

  const heartbeatTimer = setInterval(() => {
    // The heartbeat reports progress, not merely a live process.
    if (lock && Date.now() - lastPassAt < STALL_TIMEOUT_MS)
      recordHeartbeat(db).catch((error: unknown) =>
        log.warn({ err: error }, 'failed to write the heartbeat of the manager'),
      )
  }, INTERVAL_MS)
  const unwatch = runtime.watch(wake)
  wake()
  void running?.then(() => (lock ? recordHeartbeat(db) : undefined)).catch(() => undefined)

  return {
    wake,
    get isActive() {
      return lock !== undefined
    },
    async close() {
      closed = true
      clearTimeout(timer)
      clearInterval(heartbeatTimer)
      unwatch()
      await running
      // Closing the connection releases the lock.
      lock?.release(true)
      lock = undefined
    },
  }
}
