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

test('an instance waits until the connection has taken everything', () => {
  backPressure.pauseOutput('lobby-0')
  backPressure.pauseOutput('proxy-0')
  expect([...held]).toEqual(['lobby-0', 'proxy-0'])
  backPressure.drained()
  expect([...held]).toEqual([])
})

test('one that waits again waits its own 50 ms, however soon after the last time', () => {
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(49)
  backPressure.drained()
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(49)
  expect([...held]).toEqual(['lobby-0'])
  jest.advanceTimersByTime(1)
  expect([...held]).toEqual([])
})

test('nobody waits for a connection that stands still until a pause is over, which is longer each time', () => {
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

test('one that has taken everything is waited for at once, and its next pause is short again', () => {
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(50)
  backPressure.drained()
  backPressure.pauseOutput('lobby-0')
  expect([...held]).toEqual(['lobby-0'])
  jest.advanceTimersByTime(50 + 50)
  backPressure.pauseOutput('lobby-0')
  expect([...held]).toEqual(['lobby-0'])
})

test('a pause is not cut short by an earlier one', () => {
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(50)
  backPressure.drained()
  jest.advanceTimersByTime(10)
  backPressure.pauseOutput('lobby-0')
  jest.advanceTimersByTime(50 + 45)
  backPressure.pauseOutput('lobby-0')
  expect([...held]).toEqual([])
})

test('a connection that is gone leaves nothing that waits, and no timer', () => {
  backPressure.pauseOutput('lobby-0')
  backPressure.close()
  expect([...held]).toEqual([])
  expect(jest.getTimerCount()).toBe(0)
})
