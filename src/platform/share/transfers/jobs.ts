import { randomUUID } from 'node:crypto'
import type { FileJob } from '../../../contract/file'
import { AppError } from '../../errors'
import { createFairQueue } from '../../concurrency/fairQueue'

/** Queued jobs per user. */
const MAX_QUEUED = 20
/** `Retry-After` in seconds when the queue is full. */
const RETRY_AFTER_SECONDS = 30

/** Lets a job report its progress and notice its cancellation. */
export interface JobControl {
  readonly signal: AbortSignal
  readonly progress: (change: Partial<Pick<FileJob, 'done' | 'total' | 'entry'>>) => void
}

/** What ends a job from outside. */
export interface JobSignals {
  /** Aborts when the client disconnects: a running job continues, a queued one is dropped. */
  disconnected?: AbortSignal
  /** Aborts when its caller was deleted or lost the rights for it, with the error that the job then throws. */
  rightsLost?: AbortSignal
}

/** Long-running jobs on trees, with progress and cancellation. Users take turns, however many jobs each has. */
export interface Jobs {
  /**
   * Runs a job when it is its turn.
   * @throws what `work` throws; AppError CANCELLED, TOO_MANY_TRIES when the user's queue is full, UNAVAILABLE when the
   * platform shuts down; the reasons of the signals
   */
  run<Result>(
    userId: number,
    kind: FileJob['kind'],
    paths: string[],
    work: (control: JobControl) => Promise<Result>,
    signals?: JobSignals,
  ): Promise<Result>
  /** The queued and running jobs of a user. */
  of(userId: number): FileJob[]
  /** @throws AppError NOT_FOUND for another user's job and for one that has ended */
  cancel(userId: number, id: string): void
  /** All running and queued jobs, with their users. */
  all(): { userId: number; job: FileJob }[]
  /** Cancels all jobs, and resolves after they have cleaned up. */
  close(): Promise<void>
}

/** The error for work whose user lost the rights for it. Their session, if it is still valid, continues. */
export const rightsLost = () =>
  new AppError('NOT_ALLOWED', 'Your account or API key was deleted, or your rights have changed.')

export function createJobs(): Jobs {
  const jobs = new Map<string, { userId: number; job: FileJob; abort: AbortController; ended: Promise<unknown> }>()
  const fairQueue = createFairQueue()

  return {
    async run(userId, kind, paths, work, { disconnected, rightsLost: lost } = {}) {
      if (fairQueue.queuedCount(userId) >= MAX_QUEUED) {
        throw new AppError(
          'TOO_MANY_TRIES',
          `${MAX_QUEUED} of your archives are already waiting. Try again when some of them have finished.`,
          { retryAfterSeconds: RETRY_AFTER_SECONDS },
        )
      }
      const abort = new AbortController()
      const abortForLostRights = () => abort.abort(lost?.reason)
      if (lost?.aborted) abortForLostRights()
      lost?.addEventListener('abort', abortForLostRights)
      const job: FileJob = { id: randomUUID(), kind, paths, done: 0, total: null, entry: '' }
      const perform = async () => {
        const release = await fairQueue.acquire(
          userId,
          disconnected ? AbortSignal.any([abort.signal, disconnected]) : abort.signal,
        )
        try {
          abort.signal.throwIfAborted()
          return await work({ signal: abort.signal, progress: (change) => void Object.assign(job, change) })
        } catch (error) {
          // Streams wrap the abort reason.
          throw abort.signal.aborted ? abort.signal.reason : error
        } finally {
          release()
        }
      }
      const result = perform()
      jobs.set(job.id, { userId, job, abort, ended: result.catch(() => undefined) })
      try {
        return await result
      } finally {
        jobs.delete(job.id)
        lost?.removeEventListener('abort', abortForLostRights)
      }
    },
    of: (userId) => [...jobs.values()].filter((entry) => entry.userId === userId).map(({ job }) => ({ ...job })),
    cancel(userId, id) {
      const entry = jobs.get(id)
      if (entry?.userId !== userId) throw new AppError('NOT_FOUND', 'There is no such job, or it has ended.')
      entry.abort.abort(new AppError('CANCELLED', `The ${entry.job.kind} was cancelled.`))
    },
    all: () => [...jobs.values()].map(({ userId, job }) => ({ userId, job: { ...job } })),
    async close() {
      for (const { abort } of jobs.values()) abort.abort(new AppError('UNAVAILABLE', 'The platform is shutting down.'))
      await Promise.all([...jobs.values()].map(({ ended }) => ended))
    },
  }
}
