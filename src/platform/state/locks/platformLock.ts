import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../../errors'
import { PostgresClient } from '../../postgresClient'
import { tryAdvisoryLock } from './advisoryLock'
import { connectionErrorText } from '../db'

/**
 * Key of the advisory lock of all platforms: a platform with the local runtime holds it exclusively, those with the
 * Kubernetes runtime share it. Any number that no other lock uses.
 */
const PLATFORM_LOCK_KEY = 7_230_002
/** The server needs a moment to detect that a killed platform's connection is gone. */
const ACQUIRE_TIMEOUT_MS = 5000
/** Interval of checks that the connection is alive. */
const CHECK_INTERVAL_MS = 1000
/** How long the server keeps the lock of a silent platform, whose machine may be gone. */
const LEASE_MS = 15_000
const CONNECT_TIMEOUT_MS = 4000

/**
 * Prevents a second platform with the local runtime from using the same database: both would start its persistent
 * deployments, each on its own machine (decisions §15). Holds an advisory lock of PostgreSQL on a dedicated connection.
 * Take it before migrating: a newer version that is refused must not change the tables of the running one.
 * @param url the database's URL
 * @param onLost called once if another platform took the lock while the connection was broken. After a break the lock
 * is taken again when the server answers; until then no manager works, because its lock is on the same server.
 * @param isShared for a replica of the platform: any number of them may hold the lock, but none beside a platform with
 * the local runtime
 * @returns a function that releases the lock
 * @throws StartError while another platform holds it, and when the server is unreachable or refuses
 */
export async function holdPlatformLock(
  url: string,
  log: Logger,
  onLost: () => void,
  isShared = false,
): Promise<() => Promise<void>> {
  let client: Client | undefined
  const closing = new AbortController()

  async function tryLock(asReplica = isShared): Promise<boolean> {
    const candidate = new PostgresClient({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    })
    // Without a listener a broken connection would end the process. The next check detects it.
    candidate.on('error', () => undefined)
    try {
      await candidate.connect()
      if (await tryAdvisoryLock(candidate, PLATFORM_LOCK_KEY, { isShared: asReplica, leaseMs: LEASE_MS }))
        client = candidate
      return client === candidate
    } finally {
      if (client !== candidate) await candidate.end().catch(() => undefined)
    }
  }

  async function tryLockFor(ms: number): Promise<boolean> {
    for (const deadline = performance.now() + ms; !(await tryLock()); await delay(100))
      if (performance.now() > deadline || closing.signal.aborted) return false
    return true
  }

  async function holds(): Promise<boolean> {
    return (
      client !== undefined &&
      client.query('select 1').then(
        () => true,
        () => false,
      )
    )
  }

  async function monitorLock(): Promise<void> {
    while (await pause(closing.signal)) {
      if (await holds()) continue
      await client?.end().catch(() => undefined)
      client = undefined
      // While the server is down nobody can take the lock. The next round tries again. Where the network has forgotten
      // the connection without closing it, the server keeps it, with the lock, for the lease.
      const isTaken = await tryLockFor(LEASE_MS + ACQUIRE_TIMEOUT_MS).catch(() => undefined)
      if (isTaken !== false || closing.signal.aborted) continue
      log.fatal(
        'another platform with the local runtime has taken over this state; this one shuts down, its instances continue',
      )
      return onLost()
    }
  }

  const isTaken = await tryLockFor(ACQUIRE_TIMEOUT_MS).catch((error: unknown) => {
    throw new StartError([connectionErrorText(url, error)])
  })
  if (!isTaken) {
    // A lock that can be shared is held by replicas.
    const runtime = !isShared && (await tryLock(true)) ? 'Kubernetes' : 'local'
    await client?.end()
    throw new StartError([
      `Another Quarterdeck with the ${runtime} runtime uses this state: stop it, or name another database in QUARTERDECK_STATE_URL`,
    ])
  }
  const monitoring = monitorLock()
  return async () => {
    closing.abort()
    await monitoring
    await client?.end()
  }
}

/** @returns false if aborted */
function pause(signal: AbortSignal): Promise<boolean> {
  return delay(CHECK_INTERVAL_MS, true, { signal }).catch(() => false)
}
