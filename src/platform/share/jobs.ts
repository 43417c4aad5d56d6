import { randomUUID } from 'node:crypto'
import type { FileJob } from '../../contract/file'
import { AppError } from '../errors'
import { createFairTurns } from './fairTurns'

/** Jobs of one user. */
const MOST_WAITING = 20
/** When it makes sense to ask again. In seconds. */
const RETRY_AFTER = 30

/** What work tells of itself, and how it hears that it shall end. */
export interface JobControl {
  readonly signal: AbortSignal
  readonly progress: (change: Partial<Pick<FileJob, 'done' | 'total' | 'entry'>>) => void
}

/** Long work on trees: told while it lasts, and cancelled by who asked for it. Users take turns, however many jobs each has. */
export interface Jobs {
  /**
   * @param hungUp tells that nobody waits for the answer: what has begun goes on, what has not is dropped.
   * @throws what the work throws; AppError CANCELLED when it was cancelled, TOO_MANY_TRIES when too many wait, UNAVAILABLE when the
   * platform ends; the reason of `hungUp`
   */
  run<Result>(
    userId: number,
    kind: FileJob['kind'],
    paths: string[],
    work: (control: JobControl) => Promise<Result>,
    hungUp?: AbortSignal,
  ): Promise<Result>
  of(userId: number): FileJob[]
  /** @throws AppError NOT_FOUND for another user's, and for what has ended */
  cancel(userId: number, id: string): void
  /** Cancels all jobs of a user who was removed. */
  endOf(userId: number): void
  /** Ends what runs, and resolves when it has cleaned up. */
  close(): Promise<void>
}

export function createJobs(): Jobs {
  const jobs = new Map<string, { userId: number; job: FileJob; abort: AbortController; ended: Promise<unknown> }>()
  const turns = createFairTurns()

  return {
    async run(userId, kind, paths, work, hungUp) {
      if (turns.waitingOf(userId) >= MOST_WAITING) {
        throw new AppError(
          'TOO_MANY_TRIES',
          `${MOST_WAITING} of your archives are waiting for their turn already. Try again when some of them are done.`,
          { retryAfterSeconds: RETRY_AFTER },
        )
      }
      const abort = new AbortController()
      const job: FileJob = { id: randomUUID(), kind, paths, done: 0, total: null, entry: '' }
      const perform = async () => {
        const end = await turns.turn(userId, hungUp ? AbortSignal.any([abort.signal, hungUp]) : abort.signal)
        try {
          abort.signal.throwIfAborted()
          return await work({ signal: abort.signal, progress: (change) => void Object.assign(job, change) })
        } catch (error) {
          // Streams wrap the reason they were ended for.
          throw abort.signal.aborted ? abort.signal.reason : error
        } finally {
          end()
        }
      }
      const result = perform()
      jobs.set(job.id, { userId, job, abort, ended: result.catch(() => undefined) })
      try {
        return await result
      } finally {
        jobs.delete(job.id)
      }
    },
    of: (userId) => [...jobs.values()].filter((entry) => entry.userId === userId).map(({ job }) => ({ ...job })),
    cancel(userId, id) {
      const entry = jobs.get(id)
      if (entry?.userId !== userId) throw new AppError('NOT_FOUND', 'There is no such job, or it has ended.')
      entry.abort.abort(new AppError('CANCELLED', `The ${entry.job.kind} was cancelled.`))
    },
    endOf(userId) {
      for (const entry of jobs.values())
        if (entry.userId === userId) entry.abort.abort(new AppError('NO_SESSION', 'Your account was deleted.'))
    },
    async close() {
      for (const { abort } of jobs.values()) abort.abort(new AppError('UNAVAILABLE', 'The platform is ending.'))
      await Promise.all([...jobs.values()].map(({ ended }) => ended))
    },
  }
}
