import { BackPressure } from '../../../../src/platform/runtime/local/backPressure'

let held: Set<string>
let backPressure: BackPressure
beforeEach(() => {
  jest.useFakeTimers()
  held = new Set()
  backPressure = new BackPressure((podName, isHeld) => void (isHeld ? held.add(podName) : held.delete(podName)))
})
afterEach(() => {
  jest.useRealTimers()
})

test('holds an instance until the connection has drained', () => {
  backPressure.pauseOutput('lobby-0')
  backPressure.pauseOutput('proxy-0')
  expect([...held]).toEqual(['lobby-0', 'proxy-0'])
  backPressure.drained()
  expect([...held]).toEqual([])
})

test('a new hold lasts its full 50 ms, however soon it follows the previous one', () => {
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(49)
  backPressure.drained()
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(49)
  expect([...held]).toEqual(['lobby-0'])
  jest.advanceTimersByTime(1)
  expect([...held]).toEqual([])
})

test('a stalled connection holds no instance during a pause, which doubles each time', () => {
  for (const pause of [50, 100, 200]) {
    backPressure.pauseOutput('lobby-0')
    jest.advanceTimersByTime(50)
    backPressure.pauseOutput('lobby-0')
    jest.advanceTimersByTime(pause - 1)
    backPressure.pauseOutput('lobby-0')
    expect([...held]).toEqual([])
    jest.advanceTimersByTime(1)
  }
  backPressure.pauseOutput('lobby-0')
  expect([...held]).toEqual(['lobby-0'])
})

test('after a drain the connection holds instances at once, and its next pause is short again', () => {
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(50)
  backPressure.drained()
  backPressure.pauseOutput('lobby-0')
  expect([...held]).toEqual(['lobby-0'])
  jest.advanceTimersByTime(50 + 50)
  backPressure.pauseOutput('lobby-0')
  expect([...held]).toEqual(['lobby-0'])
})

test('an earlier pause does not shorten a later one', () => {
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(50)
  backPressure.drained()
  jest.advanceTimersByTime(10)
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(50 + 45)
  backPressure.pauseOutput('lobby-0')
  expect([...held]).toEqual([])
})

test('closing a connection releases its instances and clears its timer', () => {
  backPressure.pauseOutput('lobby-0')
  backPressure.close()
  expect([...held]).toEqual([])
  expect(jest.getTimerCount()).toBe(0)
})
