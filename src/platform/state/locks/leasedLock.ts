import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { tryAdvisoryLock } from './advisoryLock'

/** How long the server keeps a lock whose holder is silent. */
const LEASE_MS = 8000
/** Several renewals fit in a lease, so that one slow response does not lose it. */
const RENEW_MS = 2000
/** How long a response of the server stays valid. A holder that was suspended must confirm again. */
const CONFIRMED_MS = 1000
/** Interval of attempts to take a lock that is held. */
const RETRY_MS = 50

/** An advisory lock that ends by itself when its holder's machine is gone. */
export interface LeasedLock {
  /** Whether the lock is held, as far as this process knows. */
  readonly isHeld: boolean
  /** Whether the server has confirmed the lock within the last second. */
  confirm(): Promise<boolean>
  /** Never throws. */
  release(): Promise<void>
}

/**
 * Tries to take an advisory lock on a connection of its own.
 * @param onLost called once if the lock is lost, not when it is released
 * @returns undefined if another connection holds it. @throws Error if the query fails
 */
export async function tryLeasedLock(
  pool: Pick<Pool, 'connect'>,
  key: number | string | string[],
  onLost: () => void = () => undefined,
): Promise<LeasedLock | undefined> {
  const client = await pool.connect()
  let isTaken: boolean | undefined
  const sentAt = performance.now()
  try {
    isTaken = await tryAdvisoryLock(client, key, { leaseMs: LEASE_MS })
  } finally {
    // A connection in an unknown state is closed, because it may hold the lock.
    if (!isTaken) client.release(isTaken === undefined)
  }
  return isTaken ? keepLease(client, sentAt, onLost) : undefined
}

/** As `tryLeasedLock`, but retries for `waitMs` while another connection holds the lock. */
export async function waitForLeasedLock(
  pool: Pick<Pool, 'connect'>,
  key: number | string | string[],
  waitMs: number,
): Promise<LeasedLock | undefined> {
  const deadline = performance.now() + waitMs
  while (true) {
    const lock = await tryLeasedLock(pool, key)
    if (lock || performance.now() > deadline) return lock
    await delay(RETRY_MS)
  }
}

function keepLease(client: PoolClient, takenAt: number, onLost: () => void): LeasedLock {
  let isHeld = true
  let confirmedAt = takenAt
  let renewing: Promise<void> | undefined

  function end(): boolean {
    const wasHeld = isHeld
    isHeld = false
    clearInterval(timer)
    client.off('error', lose)
    return wasHeld
  }

  /** The lock belongs to the connection, so closing it releases the lock. */
  function lose(): void {
    if (!end()) return
    client.release(true)
    onLost()
  }

  async function renewLease(): Promise<void> {
    // Measured before the query, because the server may renew the lease at any moment between query and response.
    const sentAt = performance.now()
    try {
      await client.query('select 1')
      confirmedAt = sentAt
    } catch {
      lose()
    }
  }

  const renew = () => (renewing ??= renewLease().finally(() => (renewing = undefined)))
  const timer = setInterval(() => void renew(), RENEW_MS)
  timer.unref()
  client.on('error', lose)

  return {
    get isHeld() {
      return isHeld
    },
    async confirm() {
      if (isHeld && performance.now() - confirmedAt > CONFIRMED_MS) await renew()
      return isHeld
    },
    async release() {
      if (!end()) return
      // Ends the transaction that holds the lock. It contains no changes.
      await client.query('commit').then(
        () => client.release(),
        () => client.release(true),
      )
    },
  }
}
