/** @jest-environment node */
import { createChunkLoader } from '../../../src/web/app/retryChunks'

const failed = (request = '/assets/1.abc.js') =>
  Object.assign(new Error('Loading chunk 1 failed.'), { name: 'ChunkLoadError', request })

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

/** The number of load attempts within this time. */
async function attemptsWithin(milliseconds: number) {
  let attempts = 0
  const load = createChunkLoader(
    () => {},
    async () => false,
  )
  void load(async () => {
    attempts++
    throw failed()
  })
  await jest.advanceTimersByTimeAsync(milliseconds)
  return attempts
}

test('a failed chunk load is retried with growing delays until it succeeds', async () => {
  let isAway = true
  let attempts = 0
  const onGone = jest.fn()
  const load = createChunkLoader(onGone, async () => false)
  const loaded = load(async () => {
    attempts++
    if (isAway) throw failed()
    return 'page'
  })
  await jest.advanceTimersByTimeAsync(60_000)
  const sofar = attempts
  isAway = false
  await jest.advanceTimersByTimeAsync(15_000)
  expect(await loaded).toBe('page')
  expect(attempts).toBe(sofar + 1)
  expect(onGone).not.toHaveBeenCalled()
})

test('the retry delay grows up to 15 seconds', async () => {
  const minute = await attemptsWithin(60_000)
  const hour = await attemptsWithin(3_600_000)
  expect(minute).toBeGreaterThan(5)
  expect(minute).toBeLessThan(12)
  expect(hour).toBeGreaterThan(240)
})

test('a chunk that the server no longer has is reported once and not retried', async () => {
  const onGone = jest.fn()
  let attempts = 0
  let isSettled = false
  const load = createChunkLoader(onGone, async (url) => url === '/assets/1.abc.js')
  void load(async () => {
    attempts++
    throw failed()
  }).finally(() => (isSettled = true))
  await jest.advanceTimersByTimeAsync(60_000)
  expect({ attempts, reports: onGone.mock.calls.length, isSettled }).toEqual({
    attempts: 1,
    reports: 1,
    isSettled: false,
  })
})

test('a module that throws during evaluation is rejected without a retry', async () => {
  const load = createChunkLoader(
    () => {},
    async () => true,
  )
  const attempt = jest.fn(async () => {
    throw new TypeError('x is undefined')
  })
  await expect(load(attempt)).rejects.toThrow('x is undefined')
  expect(attempt).toHaveBeenCalledTimes(1)
})
