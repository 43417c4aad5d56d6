import { ReadyLine } from '../../../src/platform/runtime/readyLine'

test('security 100: the lines of a flood are matched in one call with one time limit', () => {
  const flood = Array<string>(20_000).fill('x')
  const ready = new ReadyLine('^Done$')
  expect(ready.matches(flood)).toBe(false)
  expect(ready.matches([...flood, 'Done', 'x'])).toBe(true)
})

test('security 100: after a slow match, further lines get little time', () => {
  const ready = new ReadyLine('^(a+)+$')
  expect(ready.matches(['a'.repeat(40) + '!'])).toBe('too slow')
  const before = process.cpuUsage()
  expect(ready.matches(['a'.repeat(40) + '!'])).toBe('too slow')
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(100)
})

test('a line is matched from its start whatever matched before it', () => {
  const ready = new ReadyLine('o')
  expect(ready.matches(['one', 'two'])).toBe(true)
  expect(ready.matches(['one'])).toBe(true)
  expect(ready.matches([])).toBe(false)
})
