import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { ActivityEntry, ActivityQuery } from '../../contract/admin'
import { createActivityLimit } from './activityLimit'
import { errorCodeOf } from '../errors'
import type { Db } from '../state/db'
import { insertActivity, listActivity, type ActivityRecord, type NewActivity } from '../state/accounts/activity'

/** Entries that wait while the database is down. Further ones are lost, and the loss is logged. */
const QUEUE_LIMIT = 10_000
const BATCH = 500
/** Exponential back-off after a failure. */
const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 15_000
/** In UTF-16 code units. Short, because an entry is one line. */
const SUBJECT_LIMIT = 500
const HOUR_MS = 3_600_000

export interface ActivityLog {
  /**
   * Queues an entry. Never waits and never fails; entries are written in the order of the calls. Of many of a user
   * within a minute, the last are only counted (`activityLimit.ts`).
   */
  record(activity: ActivityRecord): void
  /** One page, newest first, including everything recorded before the call, but what was only counted. */
  list(query: ActivityQuery): Promise<{ entries: ActivityEntry[]; hasMore: boolean }>
  /** Writes the queue, if the database is reachable. */
  close(): Promise<void>
}

/** @param log receives failures and losses. @param now milliseconds since the epoch */
export function createActivityLog(db: Db, log: Pick<Logger, 'error' | 'warn'>, now: () => number): ActivityLog {
  let queue: NewActivity[] = []
  let lost = 0
  let writing: Promise<boolean> | undefined
  let retry: NodeJS.Timeout | undefined
  let retryMs = FIRST_RETRY_MS
  let isClosed = false

  /** Writes until the queue is empty, including entries that arrive while it runs. @returns false after a failure */
  async function writeAll(): Promise<boolean> {
    let size = BATCH
    while (queue.length > 0) {
      const batch = queue.slice(0, size)
      try {
        await insertActivity(db, batch)
      } catch (error) {
        if (!isRefusal(error)) {
          log.warn({ err: error, waiting: queue.length }, 'failed to write the activity log; retrying')
          return false
        }
        // A rejected entry must not block the others. It is found by writing them one by one.
        if (batch.length === 1) {
          log.error({ err: error }, 'the database rejected an entry of the activity log')
          queue = queue.slice(1)
        }
        size = 1
        continue
      }
      queue = queue.slice(batch.length)
      retryMs = FIRST_RETRY_MS
      if (lost > 0) {
        log.error({ lost }, 'entries of the activity log were lost while the database was unavailable')
        lost = 0
      }
    }
    return true
  }

  function write(): Promise<boolean> {
    clearTimeout(retry)
    retry = undefined
    writing ??= writeAll().then((isWritten) => {
      writing = undefined
      if (!isWritten && !isClosed) {
        retry = setTimeout(() => void write(), retryMs)
        retryMs = Math.min(2 * retryMs, LAST_RETRY_MS)
      }
      // Entries may have arrived since the last check of the queue.
      return isWritten && queue.length > 0 ? write() : isWritten
    })
    return writing
  }

  function add(activity: ActivityRecord): void {
    if (queue.length >= QUEUE_LIMIT) {
      lost += 1
      return
    }
    const { action, subject, address, api_key } = activity
    queue.push({
      ...activity,
      entry: randomUUID(),
      at: new Date(now()),
      action: lineOf(action),
      subject: subject === null || subject === undefined ? null : lineOf(subject),
      address: lineOf(address),
      api_key: api_key === undefined || api_key === null ? null : lineOf(api_key),
    })
    if (!retry) void write()
  }
  const limit = createActivityLimit(add)

  return {
    record(activity) {
      if (limit.admits(activity)) add(activity)
    },
    async list({ hours, ...query }) {
      await write()
      return listActivity(db, { ...query, ...(hours !== undefined && { since: new Date(now() - hours * HOUR_MS) }) })
    },
    async close() {
      limit.close()
      isClosed = true
      if (!(await write()))
        log.error({ lost: lost + queue.length }, 'entries of the activity log were lost during the shutdown')
    },
  }
}

/** Whether PostgreSQL refused the entry itself (classes 22 and 23) rather than being unavailable. */
function isRefusal(error: unknown): boolean {
  return /^2[23]/.test(errorCodeOf(error) ?? '')
}

/** Converts a text to one line that terminals and tables can show, without control and bidirectional characters. */
function lineOf(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ').toWellFormed()
  return line.length > SUBJECT_LIMIT ? `${line.slice(0, SUBJECT_LIMIT - 1).toWellFormed()}…` : line
}
