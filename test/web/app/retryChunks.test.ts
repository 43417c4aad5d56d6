/** @jest-environment node */
import { createChunkLoader } from '../../../src/web/app/retryChunks'

const failed = (request = '/assets/1.abc.js') =>
  Object.assign(new Error('Loading chunk 1 failed.'), { name: 'ChunkLoadError', request })

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

/** How many times the chunk was asked for within so many milliseconds. */
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

test('a chunk that cannot be had is asked for again, ever more seldom, until it comes', async () => {
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

test('the pauses grow, and are never longer than 15 seconds', async () => {
  const minute = await attemptsWithin(60_000)
  const hour = await attemptsWithin(3_600_000)
  expect(minute).toBeGreaterThan(5)
  expect(minute).toBeLessThan(12)
  expect(hour).toBeGreaterThan(240)
})

test('a chunk that is gone from the server is told of, not asked for again, and breaks nothing', async () => {
  const onGone = jest.fn()
  let attempts = 0
  let isSettled = false
  const load = createChunkLoader(onGone, async (url) => url === '/assets/1.abc.js')
  void load(async () => {
    attempts++
    throw failed()
  }).finally(() => (isSettled = true))
  await jest.advanceTimersByTimeAsync(60_000)
  expect({ attempts, told: onGone.mock.calls.length, isSettled }).toEqual({ attempts: 1, told: 1, isSettled: false })
})

test('a module that throws while it starts is a bug, and not tried again', async () => {
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
