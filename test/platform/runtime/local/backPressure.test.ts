import { BackPressure } from '../../../../src/platform/runtime/local/backPressure'

let paused: Set<string>
let backPressure: BackPressure
beforeEach(() => {
  jest.useFakeTimers()
  paused = new Set()
  backPressure = new BackPressure((podName, isPaused) => void (isPaused ? paused.add(podName) : paused.delete(podName)))
})
afterEach(() => {
  jest.useRealTimers()
})

test('the output of instances is paused until the connection has drained', () => {
  backPressure.pauseOutput('lobby-0')
  backPressure.pauseOutput('proxy-0')
  expect([...paused]).toEqual(['lobby-0', 'proxy-0'])
  backPressure.drained()
  expect([...paused]).toEqual([])
})

test('a new pause lasts its full 50 ms, however soon it follows the previous one', () => {
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(49)
  backPressure.drained()
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(49)
  expect([...paused]).toEqual(['lobby-0'])
  jest.advanceTimersByTime(1)
  expect([...paused]).toEqual([])
})

test('a stalled connection pauses no instance during a stall, which doubles each time', () => {
  for (const stallMs of [50, 100, 200]) {
    backPressure.pauseOutput('lobby-0')
    jest.advanceTimersByTime(50)
    backPressure.pauseOutput('lobby-0')
    jest.advanceTimersByTime(stallMs - 1)
    backPressure.pauseOutput('lobby-0')
    expect([...paused]).toEqual([])
    jest.advanceTimersByTime(1)
  }
  backPressure.pauseOutput('lobby-0')
  expect([...paused]).toEqual(['lobby-0'])
})

test('after a drain the connection pauses instances at once, and its next stall is short again', () => {
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(50)
  backPressure.drained()
  backPressure.pauseOutput('lobby-0')
  expect([...paused]).toEqual(['lobby-0'])
  jest.advanceTimersByTime(50 + 50)
  backPressure.pauseOutput('lobby-0')
  expect([...paused]).toEqual(['lobby-0'])
})

test('an earlier stall does not shorten a later one', () => {
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(50)
  backPressure.drained()
  jest.advanceTimersByTime(10)
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(50 + 45)
  backPressure.pauseOutput('lobby-0')
  expect([...paused]).toEqual([])
})

test('closing a connection resumes the output of instances and clears its timer', () => {
  backPressure.pauseOutput('lobby-0')
  backPressure.close()
  expect([...paused]).toEqual([])
  expect(jest.getTimerCount()).toBe(0)
})
