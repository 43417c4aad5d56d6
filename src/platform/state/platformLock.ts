import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../errors'
import { tryAdvisoryLock } from './advisoryLock'
import { whyNotOpened } from './db'

/** The advisory lock of the one platform with the local runtime: any number that nobody else uses. */
const LOCK = 7_230_002
/** The server needs a moment to notice that the connection of a killed platform is gone. In milliseconds. */
const PREDECESSOR_MS = 5000
/** Between tries, and between checks whether the connection still answers. In milliseconds. */
const INTERVAL_MS = 1000
const CONNECT_MS = 4000

/**
 * Keeps a second platform with the local runtime off a state: both would start its persistent deployments, each on its own
 * machine (decisions §15). An advisory lock of PostgreSQL, held by a connection of its own for the platform's life. To be taken
 * before anything else is done with the state: a newer version that is refused must not have migrated the tables of the one that runs.
 *
 * When that connection breaks, the lock is gone with it and is taken again as soon as the server answers; until then no manager
 * works, because its lock has a connection of the same server. If another platform took the lock meanwhile, `onLost` is called once.
 * @param url of the state.
 * @returns gives the lock back.
 * @throws StartError while another platform holds it, and when the server cannot be reached or refuses.
 */
export async function holdPlatformLock(url: string, log: Logger, onLost: () => void): Promise<() => Promise<void>> {
  let client: Client | undefined
  const closing = new AbortController()

  async function tryLock(): Promise<boolean> {
    const candidate = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      keepAlive: true,
    })
    // A connection that breaks fails the next check; without a listener it would end the process.
    candidate.on('error', () => undefined)
    try {
      await candidate.connect()
      if (await tryAdvisoryLock(candidate, LOCK)) client = candidate
      return client === candidate
    } finally {
      if (client !== candidate) await candidate.end().catch(() => undefined)
    }
  }

  async function tryLockFor(ms: number): Promise<boolean> {
    for (const deadline = performance.now() + ms; !(await tryLock()); await delay(100))
      if (performance.now() > deadline) return false
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

  async function keep(): Promise<void> {
    while (await pause(closing.signal)) {
      if (await holds()) continue
      await client?.end().catch(() => undefined)
      client = undefined
      // The server is away: nobody can take the lock, and the next round tries again.
      const isTaken = await tryLockFor(PREDECESSOR_MS).catch(() => undefined)
      if (isTaken !== false || closing.signal.aborted) continue
      log.fatal(
        'another platform with the local runtime has taken over this state; this one ends, its instances run on',
      )
      return onLost()
    }
  }

  const isTaken = await tryLockFor(PREDECESSOR_MS).catch((error: unknown) => {
    throw new StartError([whyNotOpened(url, error)])
  })
  if (!isTaken) {
    throw new StartError([
      'Another Quarterdeck with the local runtime uses this state: stop it, or name another database in QUARTERDECK_STATE_URL',
    ])
  }
  const keeping = keep()
  return async () => {
    closing.abort()
    await keeping
    await client?.end()
  }
}

/** @returns false when it was aborted. */
function pause(signal: AbortSignal): Promise<boolean> {
  return delay(INTERVAL_MS, true, { signal }).catch(() => false)
}
