import { Script } from 'node:vm'
import { ReadyLine } from '../../../src/platform/runtime/readyLine'

test('security 100: the lines of a flood are matched in one call with one time limit', () => {
  const flood = Array<string>(20_000).fill('x')
  const ready = new ReadyLine('^Done$')
  expect(ready.matches(flood)).toBe(false)
  expect(ready.matches([...flood, 'Done', 'x'])).toBe(true)
})

test('security 100: after a slow match, further lines get little time', () => {
  // In milliseconds. Each match takes as long as it may, whatever else runs on this machine.
  let now = 0
  const allowed: number[] = []
  jest.spyOn(performance, 'now').mockImplementation(() => now)
  jest.spyOn(process, 'cpuUsage').mockImplementation((since) => ({ user: now * 1000 - (since?.user ?? 0), system: 0 }))
  jest.spyOn(Script.prototype, 'runInContext').mockImplementation((_context, options) => {
    const timeout = options?.timeout
    if (timeout === undefined) return undefined
    allowed.push(timeout)
    now += timeout
    throw new Error('Script execution timed out')
  })
  try {
    const ready = new ReadyLine('^(a+)+$')
    expect(ready.matches(['slow'])).toBe('too slow')
    expect(allowed[0]).toBe(200)
    now += 1000
    allowed.length = 0
    expect(ready.matches(['slow'])).toBe('too slow')
    expect(allowed.reduce((sum, timeout) => sum + timeout, 0)).toBeLessThan(60)
  } finally {
    jest.restoreAllMocks()
  }
})

test('security 100: a match that would take years is interrupted', () => {
  expect(new ReadyLine('^(a+)+$').matches(['a'.repeat(40) + '!'])).toBe('too slow')
})

test('a line is matched from its start whatever matched before it', () => {
  const ready = new ReadyLine('o')
  expect(ready.matches(['one', 'two'])).toBe(true)
  expect(ready.matches(['one'])).toBe(true)
  expect(ready.matches([])).toBe(false)
})
