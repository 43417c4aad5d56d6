import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { recordHeartbeat } from '../../state/deployments/heartbeats'
import { tryLeasedLock, type LeasedLock } from '../../state/locks/leasedLock'
import { fenceRuntime } from './fenceRuntime'
import { reconcile } from './reconcile'
import type { ReconcileContext } from './reconcileContext'

/** Key of the advisory lock that elects one manager among all replicas. Any number that no other lock uses. */
const MANAGER_LOCK_KEY = 7_230_001
const INTERVAL_MS = 5000
/** How often a platform that is not the manager asks for the lock. With the lock's lease: takeover within 15 s. */
const STANDBY_MS = 2000
/** The heartbeat stops when no pass has finished for this long. */
const STALL_TIMEOUT_MS = 20_000
/** The longest pause between two passes. */
const MAX_PAUSE_MS = 500

export interface Manager {
  /** Reconciles at once, after a change. */
  wake(): void
  /** Whether this platform holds the manager's lock. */
  readonly isActive: boolean
  /** As `isActive`, by a response of the lock's server within the last second. */
  confirmActive(): Promise<boolean>
  /** Stops reconciling. The instances keep running. */
  close(): Promise<void>
}

/**
 * Reconciles after each change and at least every 5 s, and writes a heartbeat every 5 s. Of several platforms that
 * share one database, only the one that holds an advisory lock does so.
 */
export function startManager(
  options: Omit<ReconcileContext, 'excessSince' | 'drainsBegun' | 'failedStarts' | 'loggedProblems'> & {
    pool: Pool
    /** Called after each pass as the manager. */
    onPass?: () => void
  },
): Manager {
  const { pool, runtime, db, log, onPass } = options
  const election = createElection(pool, () => isClosed)
  const context: ReconcileContext = {
    ...options,
    runtime: fenceRuntime(runtime, election.confirm),
    excessSince: new Map(),
    drainsBegun: new Map(),
    failedStarts: new Map(),
    loggedProblems: new Map(),
  }
  let wasActive = false
  let isClosed = false
  let isWoken = false
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let lastPassAt = performance.now()
  let passMs = 0
  /** Why the last pass failed: it is logged once, not at each of the passes that fail for the same reason. */
  let failure: string | undefined

  /** @returns milliseconds until the next pass is due */
  async function manage(): Promise<number> {
    const isActive = await election.run()
    // The manager's platform alone follows the directories of the shared area.
    if (!isActive && wasActive) context.replicas.setWatched([])
    if (!isActive) {
      wasActive = false
      return STANDBY_MS
    }
    if (!wasActive) log.info('this platform manages the instances now')
    wasActive = true
    const startedAt = performance.now()
    const delay = await reconcile(context)
    passMs = performance.now() - startedAt
    log.debug({ ms: Math.round(passMs) }, 'the manager has checked the instances')
    onPass?.()
    return Math.min(INTERVAL_MS, delay ?? INTERVAL_MS)
  }

  function passEnded(): void {
    context.discovery.scheduleUpdate()
    lastPassAt = performance.now()
  }

  /** Makes a pass, and others as long as something changes during each. */
  async function runPass(): Promise<void> {
    let delay = INTERVAL_MS
    try {
      do {
        isWoken = false
        delay = await manage()
        passEnded()
        if (failure !== undefined) log.info('the manager checks the instances again')
        failure = undefined
        // While many instances change, passes take at most half of the time, so that API calls are not starved.
        if (isWoken) await pause(Math.min(passMs, MAX_PAUSE_MS))
      } while (isWoken && !isClosed)
    } catch (error) {
      if (failure !== String(error)) log.error({ err: error }, 'the manager failed to check the instances; retrying')
      failure = String(error)
      if (!election.isWon) delay = STANDBY_MS
      passEnded()
    }
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(wake, delay)
  }

  function wake(): void {
    if (isClosed) return
    isWoken = true
    running ??= runPass().finally(() => {
      running = undefined
      if (isWoken) wake()
    })
  }

  const heartbeatTimer = setInterval(() => {
    // The heartbeat reports progress, not merely a live process.
    if (election.isWon && performance.now() - lastPassAt < STALL_TIMEOUT_MS)
      recordHeartbeat(db).catch((error: unknown) =>
        log.warn({ err: error }, 'failed to write the heartbeat of the manager'),
      )
  }, INTERVAL_MS)
  // On standby, the manager of another replica reacts.
  const unwatch = runtime.watch(() => {
    if (election.isWon) wake()
  })
  wake()
  void running?.then(() => (election.isWon ? recordHeartbeat(db) : undefined)).catch(() => undefined)

  return {
    wake,
    get isActive() {
      return election.isWon
    },
    confirmActive: election.isConfirmed,
    async close() {
      isClosed = true
      clearTimeout(timer)
      clearInterval(heartbeatTimer)
      unwatch()
      await running
      await election.end()
    },
  }
}

/** Elects one manager among the platforms that share one database. */
function createElection(pool: Pool, isClosed: () => boolean) {
  let lock: LeasedLock | undefined
  const isConfirmed = async () => (await lock?.confirm()) ?? false
  return {
    /** Whether this platform is the manager, as far as it knows. */
    get isWon() {
      return lock?.isHeld ?? false
    },
    /** @returns whether this platform is the manager, or has become it now */
    async run(): Promise<boolean> {
      if (lock && (await lock.confirm())) return true
      lock = await tryLeasedLock(pool, MANAGER_LOCK_KEY)
      if (isClosed()) await lock?.release()
      return lock?.isHeld ?? false
    },
    isConfirmed,
    /** Refuses an action of a pass once the lock is lost: another manager may act by then. */
    confirm: async (): Promise<void> => {
      if (!(await isConfirmed())) throw new Error('This platform is no longer the manager of the instances.')
    },
    end: async () => lock?.release(),
  }
}
