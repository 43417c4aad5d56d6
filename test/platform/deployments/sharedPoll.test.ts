import { createSharedPoll } from '../../../src/platform/deployments/reconcile/sharedPoll'

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

/** Runs pending promises without advancing the clock. */
const settle = () => jest.advanceTimersByTimeAsync(0)

test('callers that wait for the same name share one poll with exponential back-off; each name is polled separately', async () => {
  const asked: string[] = []
  const state: { answer?: string } = {}
  const wait = createSharedPoll(async (name) => {
    asked.push(name)
    return state.answer
  })
  const all = [...Array.from({ length: 100 }, () => wait('lobby')), wait('world')]
  await settle()
  // Callers that arrived during the first poll cause one more.
  expect(asked.filter((name) => name === 'lobby').length).toBeLessThanOrEqual(2)
  asked.length = 0
  await jest.advanceTimersByTimeAsync(10_000)
  const count = asked.filter((name) => name === 'lobby').length
  expect(count).toBeGreaterThanOrEqual(10)
  expect(count).toBeLessThanOrEqual(17)
  expect(asked).toHaveLength(2 * count)
  state.answer = 'there'
  await jest.advanceTimersByTimeAsync(1000)
  expect(new Set(await Promise.all(all))).toEqual(new Set(['there']))
  asked.length = 0
  await jest.advanceTimersByTimeAsync(10_000)
  expect(asked).toEqual([])
})

test('a later caller triggers a new poll at once and does not receive the result of one already in flight', async () => {
  let answer: (given: string | undefined) => void = () => undefined
  const wait = createSharedPoll(() => new Promise<string | undefined>((resolve) => (answer = resolve)))
  const first = wait('lobby')
  let heard: string | undefined
  const second = wait('lobby').then((given) => (heard = given))
  answer('old')
  expect(await first).toBe('old')
  await settle()
  expect(heard).toBeUndefined()
  answer('new')
  await settle()
  expect(heard).toBe('new')
  await second

  void wait('world')
  for (let round = 0; round < 10; round++) {
    answer(undefined)
    await jest.advanceTimersByTimeAsync(1000)
  }
  answer(undefined)
  await settle()
  const late = wait('world')
  await settle()
  answer('at once')
  await settle()
  expect(await late).toBe('at once')
})

test('an aborted caller is rejected at once, and polling stops with the last caller', async () => {
  let asked = 0
  const wait = createSharedPoll(async () => {
    asked += 1
    return undefined
  })
  const [one, other] = [new AbortController(), new AbortController()]
  const waits = [wait('lobby', one.signal), wait('lobby', other.signal)].map((waiting) =>
    waiting.catch((error: Error) => error.message),
  )
  one.abort(new Error('hung up'))
  expect(await waits[0]).toBe('hung up')
  const before = asked
  await jest.advanceTimersByTimeAsync(5000)
  expect(asked).toBeGreaterThan(before)
  other.abort(new Error('hung up too'))
  expect(await waits[1]).toBe('hung up too')
  const after = asked
  await jest.advanceTimersByTimeAsync(5000)
  expect(asked).toBe(after)
  await expect(wait('lobby', one.signal)).rejects.toThrow('hung up')
})

test('a failed poll rejects all its callers, and the next call starts a new poll', async () => {
  let isBroken = true
  const wait = createSharedPoll(async () => {
    if (isBroken) throw new Error('broken')
    return 'there'
  })
  const waits = [wait('lobby'), wait('lobby')].map((waiting) => waiting.catch((error: Error) => error.message))
  await settle()
  expect(await Promise.all(waits)).toEqual(['broken', 'broken'])
  isBroken = false
  expect(await wait('lobby')).toBe('there')
})
