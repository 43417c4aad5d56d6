import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import pino from 'pino'
import { createJobs, type Jobs } from '../../../src/platform/share/transfers/jobs'
import { shareFileJobs, type FileJobs } from '../../../src/platform/state/fileJobs'
import { openNotifications, type Notifications } from '../../../src/platform/state/notifications'
import { registerReplica, type Replica } from '../../../src/platform/state/replicas'
import { freshState, type FreshState } from '../../support/platform/freshState'
import { awakeMs } from '../../support/time/awakeMs'
import { until } from '../../support/platform/until'

const log = pino({ level: 'silent' })
const [ANN, BOB] = [1, 2]
let state: FreshState
let replicas: { self: Replica; jobs: Jobs; fileJobs: FileJobs; notifications: Notifications }[]

beforeEach(async () => {
  state = await freshState()
  replicas = await Promise.all(
    [1, 2].map(async () => {
      const self = await registerReplica(state.db, log)
      const notifications = await openNotifications(state.db, state.url, log)
      const jobs = createJobs()
      const fileJobs = shareFileJobs(jobs, { db: state.db, replica: self.id, notifications, log })
      return { self, jobs, fileJobs, notifications }
    }),
  )
})
afterEach(async () => {
  for (const { self, jobs, fileJobs, notifications } of replicas) {
    await jobs.close()
    await fileJobs.close()
    await notifications.close()
    await self.close()
  }
  await state.close()
})

/** Runs until it is cancelled. */
function begin(jobs: Jobs, userId: number): Promise<unknown> {
  return jobs
    .run(
      userId,
      'archive',
      ['/nfsshare/world'],
      ({ signal, progress }) =>
        new Promise((_resolve, reject) => {
          progress({ done: 7, total: 10, entry: 'region' })
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        }),
    )
    .catch((error: Error) => error.message)
}

test('a job is listed with its progress at every replica, to its user', async () => {
  const [one, two] = replicas
  const ended = begin(one!.jobs, ANN)
  const [here] = await one!.fileJobs.of(ANN)
  const [there] = await until(
    () => two!.fileJobs.of(ANN),
    (jobs) => jobs.length > 0,
  )
  expect(there).toEqual(here)
  expect(there).toMatchObject({ done: 7, total: 10, entry: 'region' })
  expect(await one!.fileJobs.of(ANN)).toHaveLength(1)
  expect(await two!.fileJobs.of(BOB)).toEqual([])
  one!.jobs.cancel(ANN, here!.id)
  await ended
  await until(async () => (await two!.fileJobs.of(ANN)).length === 0)
})

test('a job is cancelled at another replica within a second, by its user alone', async () => {
  const [one, two] = replicas
  const ended = begin(one!.jobs, ANN)
  const [job] = await until(
    () => two!.fileJobs.of(ANN),
    (jobs) => jobs.length > 0,
  )
  const ms = await awakeMs(async () => {
    await expect(two!.fileJobs.cancel(BOB, job!.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(two!.fileJobs.cancel(ANN, randomUUID())).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await two!.fileJobs.cancel(ANN, job!.id)
    expect(await ended).toBe('The archive was cancelled.')
  })
  expect(ms).toBeLessThan(1000)
})

test('the jobs of a replica that is gone are not listed any more', async () => {
  const [one, two] = replicas
  const ended = begin(one!.jobs, ANN)
  const jobs = () => two!.fileJobs.of(ANN)
  await until(jobs, (all) => all.length > 0)
  await state.db
    .updateTable('replicas')
    .set({ seen_at: sql<Date>`now() - interval '1 minute'` })
    .where('id', '=', one!.self.id)
    .execute()
  expect(await jobs()).toEqual([])
  await one!.jobs.close()
  await ended
})
