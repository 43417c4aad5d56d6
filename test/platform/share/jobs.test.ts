import { createJobs } from '../../../src/platform/share/transfers/jobs'
import { until } from '../../support/platform/until'

const ANN = 1
const BOB = 2
const CYD = 3

/** Jobs that end on request, and the order in which they started. */
function setUp() {
  const jobs = createJobs()
  const begun: string[] = []
  const running = new Map<string, () => void>()
  const run = (userId: number, name: string, hungUp?: AbortSignal) =>
    jobs
      .run(
        userId,
        'archive',
        [`/nfsshare/${name}`],
        ({ signal }) => {
          begun.push(name)
          return new Promise<string>((resolve, reject) => {
            running.set(name, () => resolve(name))
            signal.addEventListener('abort', () => reject(new Error('ended')))
          })
        },
        { ...(hungUp && { disconnected: hungUp }) },
      )
      .catch((error: { code?: string }) => error.code ?? 'other')
  const end = (name: string) => running.get(name)?.()
  return { jobs, begun, run, end }
}

test('a user with many queued jobs does not delay the first job of another user', async () => {
  const { jobs, begun, run } = setUp()
  const all = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => run(ANN, name))
  const other = run(BOB, 'b1')
  await until(() => begun.includes('b1'))
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  await jobs.close()
  expect(await Promise.all([...all, other])).toEqual(Array.from({ length: 6 }, () => 'UNAVAILABLE'))
})

test('jobs are scheduled round-robin between users, regardless of their number and order', async () => {
  const { begun, run, end } = setUp()
  const results = [
    ...['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => run(ANN, name)),
    ...['b1', 'b2', 'b3'].map((name) => run(BOB, name)),
    run(CYD, 'c1'),
  ]
  for (let at = 0; at < results.length; at += 1) {
    await until(() => begun.length > at)
    end(begun[at]!)
  }
  expect(await Promise.all(results)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3', 'c1'])
  // First two of Ann's and one of Bob's, then always the user who has waited longest.
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'c1', 'a4', 'b3', 'a5'])
})

test('§1 at most twenty jobs per user are queued; the next one gets 429 with a retry time, other users are unaffected', async () => {
  const { jobs, run } = setUp()
  const results = Array.from({ length: 22 }, (_, at) => run(ANN, `a${at}`))
  await expect(jobs.run(ANN, 'archive', [], async () => 'never')).rejects.toMatchObject({
    code: 'TOO_MANY_TRIES',
    status: 429,
    message: '20 of your archives are already waiting. Try again when some of them have finished.',
    details: { retryAfterSeconds: 30 },
  })
  expect(await jobs.run(BOB, 'archive', [], async () => 'done')).toBe('done')
  // Cancelling a queued job makes room.
  jobs.cancel(ANN, jobs.of(ANN).at(-1)!.id)
  expect(await results[21]).toBe('CANCELLED')
  results[21] = run(ANN, 'again')
  expect(jobs.of(ANN)).toHaveLength(22)
  await jobs.close()
  expect(new Set(await Promise.all(results))).toEqual(new Set(['UNAVAILABLE']))
})

test('disconnecting drops a queued job but not a running one', async () => {
  const { jobs, begun, run, end } = setUp()
  const leaving = new AbortController()
  const results = [run(ANN, 'a1', leaving.signal), run(ANN, 'a2'), run(ANN, 'a3', leaving.signal), run(ANN, 'a4')]
  await until(() => begun.length === 2)
  leaving.abort(Object.assign(new Error('The client disconnected.'), { code: 'TOO_SLOW' }))
  expect(await results[2]).toBe('TOO_SLOW')
  expect(await run(ANN, 'late', leaving.signal)).toBe('TOO_SLOW')
  expect(jobs.of(ANN).map(({ paths }) => paths[0])).toEqual(['/nfsshare/a1', '/nfsshare/a2', '/nfsshare/a4'])
  end('a1')
  end('a2')
  await until(() => begun.includes('a4'))
  end('a4')
  expect(await Promise.all([results[0], results[1], results[3]])).toEqual(['a1', 'a2', 'a4'])
  expect(begun).toEqual(['a1', 'a2', 'a4'])
})
