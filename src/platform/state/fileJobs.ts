import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { FileJob } from '../../contract/file'
import { createSharedRead } from '../concurrency/sharedRead'
import { AppError } from '../errors'
import type { Db } from './db'
import type { Notifications } from './notifications'
import { hasEnded } from './replicas'

/** Interval at which a replica publishes progress, and so its maximum age at others. */
const PUBLISH_MS = 500
/** A replica that was not seen for this long is gone, and its jobs have ended with it. */
const GONE_AFTER = '45 seconds'

/** The jobs of this process, as `Jobs` of the shared area. */
interface LocalJobs {
  all(): { userId: number; job: FileJob }[]
  /** @throws AppError NOT_FOUND */
  cancel(userId: number, id: string): void
}

/** The jobs of users on all replicas. */
export interface FileJobs {
  of(userId: number): Promise<FileJob[]>
  /** @throws AppError NOT_FOUND for another user's job and for one that has ended */
  cancel(userId: number, id: string): Promise<void>
  close(): Promise<void>
}

/** The jobs of a platform without replicas. */
export function createFileJobs(local: LocalJobs): FileJobs {
  return {
    of: async (userId) => local.all().flatMap((entry) => (entry.userId === userId ? [entry.job] : [])),
    cancel: async (userId, id) => local.cancel(userId, id),
    close: async () => undefined,
  }
}

interface SharedJobsParts {
  db: Db
  /** The id of this replica. */
  replica: string
  notifications: Pick<Notifications, 'publish' | 'on'>
  log: Pick<Logger, 'warn'>
}

/**
 * The jobs of all replicas. Each replica publishes its own jobs in the state, and reads there which of them to cancel.
 */
export function shareFileJobs(local: LocalJobs, { db, replica, notifications, log }: SharedJobsParts): FileJobs {
  const own = createFileJobs(local)
  let isPublished = false

  const publish = createSharedRead(async () => {
    const all = local.all()
    if (all.length === 0 && !isPublished) return
    isPublished = true
    const ids = all.map(({ job }) => job.id)
    await db
      .deleteFrom('file_jobs')
      .where('replica', '=', replica)
      .$if(ids.length > 0, (query) => query.where('id', 'not in', ids))
      .execute()
    if (all.length > 0)
      await db
        .insertInto('file_jobs')
        .values(all.map(({ userId, job }) => ({ id: job.id, replica, user_id: userId, job: JSON.stringify(job) })))
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ job: sql<string>`excluded.job` }))
        .execute()
    const cancelled = await db
      .selectFrom('file_jobs')
      .select(['id', 'user_id'])
      .where('replica', '=', replica)
      .where('is_cancelled', '=', true)
      .execute()
    for (const { id, user_id } of cancelled) await own.cancel(user_id, id).catch(() => undefined)
    isPublished = all.length > 0
  })
  const tryPublish = () =>
    publish().catch((error: unknown) => log.warn({ err: error }, 'failed to notify other replicas of jobs; retrying'))

  const timer = setInterval(() => void tryPublish(), PUBLISH_MS)
  const unsubscribe = notifications.on('jobs', () => void tryPublish())

  return {
    async of(userId) {
      const others = await db
        .selectFrom('file_jobs')
        .select('job')
        .where('user_id', '=', userId)
        .where('replica', '!=', replica)
        .where(sql<boolean>`not ${hasEnded('file_jobs.replica', GONE_AFTER)}`)
        .execute()
      return [...(await own.of(userId)), ...others.map(({ job }) => JSON.parse(job) as FileJob)]
    },
    async cancel(userId, id) {
      try {
        return await own.cancel(userId, id)
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error
        const { numUpdatedRows } = await db
          .updateTable('file_jobs')
          .set({ is_cancelled: true })
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .executeTakeFirst()
        if (numUpdatedRows === 0n) throw error
      }
      notifications.publish('jobs')
    },
    async close() {
      clearInterval(timer)
      unsubscribe()
      await tryPublish()
    },
  }
}
