import { EventEmitter } from 'node:events'
import { sql } from 'kysely'
import type { Client } from 'pg'
import type { Logger } from 'pino'
import { createSharedRead } from '../concurrency/sharedRead'
import { PostgresClient } from '../postgresClient'
import type { Db } from './db'

/** The channel of LISTEN and NOTIFY. Its messages only say that the table was written. */
const CHANNEL = 'quarterdeck'
/** Poll interval: a message may be lost, and none arrives behind a pooler that shares connections. */
const READ_MS = 750
const CONNECT_TIMEOUT_MS = 4000
/** Exponential back-off of the connection that listens. */
const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 5000

/**
 * - `instances`: a deployment or an instance was changed, so the manager has work.
 * - `sessions`: sessions ended, or the rights of users changed.
 * - `jobs`: a job of a user is to be cancelled, at whichever replica it runs.
 * - `sync`: the data is the state of the shared area's sync.
 */
export type Topic = 'instances' | 'sessions' | 'jobs' | 'sync'

/**
 * Messages from one replica of the platform to all, including itself. A notification says that something has changed,
 * and the receiver reads the change. Several may arrive as one and one may arrive twice, but none is lost, however long
 * a replica was disconnected.
 */
export interface Notifications {
  /**
   * Calls this replica's listeners at once, and those of other replicas within a second. Never waits and never fails.
   */
  publish(topic: Topic, data?: string): void
  /** @param listener receives the data of the last notification. @returns a function that unsubscribes */
  on(topic: Topic, listener: (data: string | undefined) => void): () => void
  /** The data of the last notification; undefined if there was none. */
  latest(topic: Topic): string | undefined
  /** Also sends what was published before, if the database answers. */
  close(): Promise<void>
}

/** The notifications of a platform without replicas. */
export function createNotifications(): Notifications {
  const events = new EventEmitter().setMaxListeners(0)
  const latest = new Map<Topic, string | undefined>()
  return {
    publish(topic, data) {
      latest.set(topic, data)
      events.emit(topic, data)
    },
    on(topic, listener) {
      events.on(topic, listener)
      return () => events.off(topic, listener)
    },
    latest: (topic) => latest.get(topic),
    close: async () => undefined,
  }
}

/**
 * The notifications of a replica: a row per topic whose version counts the notifications. A replica reads the rows
 * after a message of PostgreSQL (LISTEN, on a dedicated connection) and at intervals, and detects news by the version.
 * @param url of the state's database
 */
export async function openNotifications(db: Db, url: string, log: Logger): Promise<Notifications> {
  const local = createNotifications()
  const versions = new Map<string, number>()
  /** The last notification of each topic that was not sent yet. */
  const unsent = new Map<Topic, { data: string | undefined }>()
  let sending: Promise<void> | undefined
  let isCutOff = false
  let isClosed = false

  async function readRows(): Promise<void> {
    const before = new Map(versions)
    const rows = await db.selectFrom('notifications').selectAll().execute()
    for (const { topic, version, data } of rows) {
      // If it is older than what was known before the read, the state was replaced by an older copy, as after a
      // failover: then its notifications count on from there.
      const isOlderCopy = Number(version) < (before.get(topic) ?? 0)
      if (Number(version) <= (versions.get(topic) ?? 0) && !isOlderCopy) continue
      versions.set(topic, Number(version))
      // Unsent data is newer.
      const waiting = unsent.get(topic as Topic)
      local.publish(topic as Topic, waiting ? waiting.data : (data ?? undefined))
    }
  }

  async function sendAll(): Promise<void> {
    for (const [topic, notification] of unsent) {
      const { rows } = await sql<{ version: string }>`
        insert into notifications as n (topic, version, data) values (${topic}, 1, ${notification.data ?? null})
        on conflict (topic) do update set version = n.version + 1, data = excluded.data
        returning version`.execute(db)
      const version = Number(rows[0]?.version)
      // The listeners of this replica have been called. A version that another replica published in between is not
      // skipped.
      if (version === (versions.get(topic) ?? 0) + 1) versions.set(topic, version)
      // A notification that arrived during the query is sent too, even with the same data: the state may have changed
      // after others read it.
      if (unsent.get(topic) === notification) unsent.delete(topic)
      // Fails for all sessions while one of them, in any database of the server, keeps the queue full. The row is read
      // in any case.
      await sql`select pg_notify(${CHANNEL}, ${topic})`.execute(db).catch(() => undefined)
    }
  }

  function attempt(work: () => Promise<void>): Promise<void> {
    return work().then(
      () => void (isCutOff = false),
      (error: unknown) => {
        if (!isCutOff && !isClosed) log.warn({ err: error }, 'other replicas cannot be reached; retrying')
        isCutOff = true
      },
    )
  }

  const send = () => (sending ??= attempt(sendAll).finally(() => (sending = undefined)))

  await readRows()
  const read = createSharedRead(() => attempt(readRows))
  const timer = setInterval(() => {
    if (unsent.size > 0) void send()
    void read()
  }, READ_MS)
  const stopListening = listenAlways(url, () => void read())

  return {
    ...local,
    publish(topic, data) {
      unsent.set(topic, { data })
      local.publish(topic, data)
      // A notification that arrives while sending is sent at the next interval at the latest.
      void (sending ?? Promise.resolve()).then(() => (isClosed ? undefined : send()))
    },
    async close() {
      isClosed = true
      clearInterval(timer)
      await stopListening()
      await sending
      // What was published just before.
      if (unsent.size > 0) await send()
      await read()
    },
  }
}

/**
 * Keeps a listening connection open.
 * @param onMessage called for each message, and after each new connection
 */
function listenAlways(url: string, onMessage: () => void): () => Promise<void> {
  let client: Client | undefined
  let retry: NodeJS.Timeout | undefined
  let retryMs = FIRST_RETRY_MS
  let isClosed = false

  async function connect(): Promise<void> {
    const candidate = new PostgresClient({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    })
    client = candidate
    // Without a listener a broken connection would end the process. 'end' follows.
    candidate.on('error', () => undefined)
    candidate.on('notification', onMessage)
    candidate.once('end', () => {
      if (client === candidate) reconnectLater()
    })
    try {
      await candidate.connect()
      await candidate.query(`listen ${CHANNEL}`)
      retryMs = FIRST_RETRY_MS
      onMessage()
    } catch {
      await candidate.end().catch(() => undefined)
      if (client === candidate) reconnectLater()
    }
  }

  function reconnectLater(): void {
    client = undefined
    if (isClosed) return
    retry = setTimeout(() => void connect(), retryMs)
    retryMs = Math.min(2 * retryMs, LAST_RETRY_MS)
  }

  void connect()
  return async () => {
    isClosed = true
    clearTimeout(retry)
    const last = client
    client = undefined
    await last?.end().catch(() => undefined)
  }
}
