import type { Pool, PoolClient } from 'pg'
import { tryAdvisoryLock } from './advisoryLock'

/** How long the server keeps a lock whose holder is silent. */
const LEASE_MS = 8000
/** Several within a lease, so that one slow answer does not lose it. */
const RENEW_MS = 2000
/** How long an answer of the server counts: a holder that was suspended must ask again. */
const CONFIRMED_MS = 1000

/** An advisory lock that ends by itself when its holder's machine is gone. */
export interface LeasedLock {
  /** Whether the lock is held, as far as this process knows. */
  readonly isHeld: boolean
  /** Whether the lock is held, as the server has said within the last second. */
  confirm(): Promise<boolean>
  release(): void
}

/**
 * Tries to take an advisory lock on a connection of its own, which is closed with the lock.
 * @param onLost called once if the lock is lost, not when it is released
 * @returns undefined if another connection holds it. @throws Error if the server cannot be asked
 */
export async function tryLeasedLock(
  pool: Pick<Pool, 'connect'>,
  key: number | string,
  onLost: () => void = () => undefined,
): Promise<LeasedLock | undefined> {
  const client = await pool.connect()
  let isTaken: boolean | undefined
  const askedAt = performance.now()
  try {
    isTaken = await tryAdvisoryLock(client, key, { leaseMs: LEASE_MS })
  } finally {
    // A connection in an unknown state is closed, because it may hold the lock.
    if (!isTaken) client.release(isTaken === undefined)
  }
  return isTaken ? keepLease(client, askedAt, onLost) : undefined
}

function keepLease(client: PoolClient, takenAt: number, onLost: () => void): LeasedLock {
  let isHeld = true
  let confirmedAt = takenAt
  let asking: Promise<void> | undefined

  /** The lock belongs to the connection, so closing it releases the lock. */
  function drop(): void {
    if (!isHeld) return
    isHeld = false
    clearInterval(timer)
    client.release(true)
  }

  function lose(): void {
    if (!isHeld) return
    drop()
    onLost()
  }

  async function ask(): Promise<void> {
    // From before the question on: the lease begins when the server has answered it.
    const askedAt = performance.now()
    try {
      await client.query('select 1')
      confirmedAt = askedAt
    } catch {
      lose()
    }
  }

  const renew = () => (asking ??= ask().finally(() => (asking = undefined)))
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
    release: drop,
  }
}
