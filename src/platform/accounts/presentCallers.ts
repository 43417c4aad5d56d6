import type { Caller, Credential } from '../caller'

/**
 * How long calls may rely on a read of their caller, counted from when the read was sent. A call that takes rights away
 * at another replica answers no earlier than this after the change, so a sign-out there takes this long.
 */
export const RELY_MS = 500
/** Interval at which callers in use are read again, so that calls need not wait for a read. */
const REFRESH_MS = 200
/** A caller who made no call for this long is forgotten. The console polls every 3 s. */
const KEEP_MS = 10_000

/**
 * The present callers of this process, so that a call of a known caller needs no query.
 *
 * A call relies on a read only if it was sent less than RELY_MS before the call. All callers in use are read again by
 * one query every REFRESH_MS. When the database stops answering, the known callers expire, and every call reads for
 * itself. A change of rights by this process takes effect by `forget`, one by another process when RELY_MS is over at
 * the latest.
 */
export interface PresentCallers {
  /** The caller if a recent read can be relied on. Undefined means unknown, not invalid. */
  known(credential: Credential): Caller | undefined
  /**
   * The caller, read if they are not known. Undefined: the session or key is not valid. @throws what the read throws
   */
  find(credential: Credential): Promise<Caller | undefined>
  /** Makes every call that arrives from now on rely on reads that begin from now on. */
  forget(): void
  close(): void
}

interface Batch {
  credentials: Set<Credential>
  /** Undefined until the query is sent. */
  sentAt: number | undefined
  found: Promise<Map<Credential, Caller>>
}

/**
 * @param read reads the present callers of those credentials that are valid
 * @param now a monotonic clock in milliseconds
 */
export function createPresentCallers(
  read: (credentials: Credential[]) => Promise<Map<Credential, Caller>>,
  now: () => number = () => performance.now(),
): PresentCallers {
  let entries = new Map<Credential, { caller: Caller; readAt: number; usedAt: number }>()
  let inFlight = new Map<Credential, Batch>()
  let waiting: Batch | undefined
  let refresh: NodeJS.Timeout | undefined
  let isClosed = false

  /** Calls of one turn of the event loop share a query. */
  function nextBatch(): Batch {
    if (waiting) return waiting
    const batch: Batch = {
      credentials: new Set(),
      sentAt: undefined,
      found: new Promise((resolve) => setImmediate(resolve)).then(() => send(batch)),
    }
    return (waiting = batch)
  }

  async function send(batch: Batch): Promise<Map<Credential, Caller>> {
    waiting = undefined
    const sentAt = (batch.sentAt = now())
    // Kept from the time of sending: `forget` replaces both maps, and the new ones must not get an older caller.
    const [known, pending] = [entries, inFlight]
    for (const credential of batch.credentials) pending.set(credential, batch)
    try {
      const found = await read([...batch.credentials])
      for (const credential of batch.credentials) {
        const caller = found.get(credential)
        const before = known.get(credential)
        if (!caller) known.delete(credential)
        else if (!before || before.readAt < sentAt)
          known.set(credential, { caller, readAt: sentAt, usedAt: before?.usedAt ?? sentAt })
      }
      refreshLater()
      return found
    } finally {
      for (const credential of batch.credentials) if (pending.get(credential) === batch) pending.delete(credential)
    }
  }

  function refreshLater(): void {
    if (!isClosed) refresh ??= setTimeout(refreshUsed, REFRESH_MS).unref()
  }

  function refreshUsed(): void {
    refresh = undefined
    const forgetBefore = now() - KEEP_MS
    for (const [credential, { usedAt }] of entries) if (usedAt < forgetBefore) entries.delete(credential)
    if (entries.size === 0) return
    const batch = nextBatch()
    for (const credential of entries.keys()) batch.credentials.add(credential)
    // The failure itself is thrown by the next call that has to read.
    batch.found.catch(refreshLater)
  }

  function known(credential: Credential): Caller | undefined {
    const entry = entries.get(credential)
    const at = now()
    if (!entry || at - entry.readAt >= RELY_MS) return undefined
    entry.usedAt = at
    return entry.caller
  }

  return {
    known,
    async find(credential) {
      const caller = known(credential)
      if (caller) return caller
      let batch = inFlight.get(credential)
      if (batch?.sentAt === undefined || now() - batch.sentAt >= RELY_MS) {
        batch = nextBatch()
        batch.credentials.add(credential)
      }
      return (await batch.found).get(credential)
    },
    forget() {
      entries = new Map()
      inFlight = new Map()
    },
    close() {
      isClosed = true
      clearTimeout(refresh)
    },
  }
}
