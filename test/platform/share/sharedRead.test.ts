import { lstat } from 'node:fs/promises'
import {
  createBatchedRead,
  createBoundedRead,
  createKeyedSharedRead,
  createRecentRead,
  createSharedRead,
} from '../../../src/platform/concurrency/sharedRead'
import { until } from '../../support/platform/until'

test('concurrent calls share one read, and each caller sees the state as of its call', async () => {
  const ends: (() => void)[] = []
  let value = 0
  let underWay = 0
  const read = createSharedRead(async () => {
    underWay += 1
    expect(underWay).toBe(1)
    const seen = value
    await new Promise<void>((resolve) => ends.push(resolve))
    underWay -= 1
    return seen
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const first = read()
  await settle()
  value = 1
  const later = Array.from({ length: 100 }, () => read())
  await settle()
  expect(ends).toHaveLength(1)
  ends[0]?.()
  expect(await first).toBe(0)
  await settle()
  expect(ends).toHaveLength(2)
  ends[1]?.()
  expect(new Set(await Promise.all(later))).toEqual(new Set([1]))
})

test('a failed read rejects its callers, and the next call starts a new read', async () => {
  const answers = [Promise.reject(new Error('away')), Promise.resolve('there')]
  void answers[0]?.catch(() => undefined)
  const read = createSharedRead(async () => answers.shift())
  await expect(read()).rejects.toThrow('away')
  expect(await read()).toBe('there')
})

test('with keys, only calls with the same key share a read, and a later call starts a new one', async () => {
  const shared = createKeyedSharedRead<string>()
  let readings = 0
  const read = (key: string) => shared(key, async () => `${key} ${(readings += 1)}`)
  expect(await Promise.all([read('a'), read('a'), read('b')])).toEqual(['a 1', 'a 1', 'b 2'])
  expect(await read('a')).toBe('a 3')
  await expect(shared('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await read('a')).toBe('a 4')
})

describe('a recent read', () => {
  beforeEach(() => void jest.useFakeTimers())
  afterEach(() => void jest.useRealTimers())

  test('is shared for a fixed time after its start', async () => {
    let reads = 0
    const read = createRecentRead(async () => (reads += 1), 250)
    expect(await Promise.all([read(), read()])).toEqual([1, 1])
    jest.advanceTimersByTime(249)
    expect(await read()).toBe(1)
    jest.advanceTimersByTime(1)
    expect(await read()).toBe(2)
  })

  test('is not shared after a change, whether it is completed or in flight', async () => {
    const ends: ((text: string) => void)[] = []
    const read = createRecentRead(() => new Promise<string>((end) => void ends.push(end)), 250)
    const before = read()
    read.forget()
    const after = read()
    ends[0]!('old')
    ends[1]!('new')
    expect([await before, await after, await read()]).toEqual(['old', 'new', 'new'])
  })

  test('that fails is not shared by later calls', async () => {
    const results = [Promise.reject(new Error('away')), Promise.resolve('back')]
    const read = createRecentRead(() => results.shift()!, 250)
    await expect(read()).rejects.toThrow('away')
    expect(await read()).toBe('back')
  })
})

test('a batched read covers all keys that were requested since the last read began', async () => {
  const batches: string[][] = []
  let answer: (() => void) | undefined
  const read = createBatchedRead(async (keys: string[]) => {
    batches.push(keys)
    await new Promise<void>((resolve) => (answer = resolve))
    return new Map(keys.filter((key) => key !== 'unknown').map((key) => [key, `entry of ${key}`]))
  })
  const first = read('lobby')
  await until(() => batches.length === 1)
  const others = Promise.all([read('proxy'), read('lobby'), read('unknown'), read('proxy')])
  answer?.()
  expect(await first).toBe('entry of lobby')
  await until(() => batches.length === 2)
  answer?.()
  expect(await others).toEqual(['entry of proxy', 'entry of lobby', undefined, 'entry of proxy'])
  expect(batches).toEqual([['lobby'], ['proxy', 'lobby', 'unknown']])
})

test('a bounded read does not count time in which the process did not run', async () => {
  const read = createBoundedRead(() => lstat('/'), 50)
  const answer = read()
  const begunAt = performance.now()
  while (performance.now() - begunAt < 700);
  expect((await answer).isDirectory()).toBe(true)
})

test('a bounded read that hangs ends with an error', async () => {
  await expect(createBoundedRead(() => new Promise(() => undefined), 50)()).rejects.toThrow('No response within 50 ms')
})
