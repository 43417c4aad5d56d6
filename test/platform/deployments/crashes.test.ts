import { describeCrashes, lastExitOf } from '../../../src/platform/deployments/reconcile/crashCapsule'
import { nextStartAfterCrash, attemptNumber } from '../../../src/platform/deployments/reconcile/crashes'
import { bytesOf, coresOf, uptimeText } from '../../../src/platform/deployments/quantities'

test('decisions §5: the delays are 1, 2, 4 and 8 s, and the fifth crash within five minutes blocks the instance', () => {
  let crashes: number[] = []
  const waits: (number | undefined)[] = []
  for (let time = 1_000_000; waits.length < 5; time += 10_000) {
    const next = nextStartAfterCrash(crashes, time)
    crashes = next.crashes
    waits.push(next.startAfter === undefined ? undefined : next.startAfter - time)
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, undefined])
})

test('an instance that crashes every two minutes waits up to a minute between starts and is not blocked', () => {
  let crashes: number[] = []
  const waits: (number | undefined)[] = []
  for (let time = 1_000_000; waits.length < 9; time += 120_000) {
    const next = nextStartAfterCrash(crashes, time)
    crashes = next.crashes
    waits.push(next.startAfter && next.startAfter - time)
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
})

test('crashes more than five minutes apart do not add up', () => {
  expect(nextStartAfterCrash([0, 100_000], 500_000)).toEqual({ crashes: [500_000], startAfter: 501_000 })
})

test('crashes recorded by a clock that was ahead do not count after it is corrected', () => {
  const ahead = [10_000_000, 10_010_000, 10_020_000, 10_030_000]
  expect(nextStartAfterCrash(ahead, 5_000_000)).toEqual({ crashes: [5_000_000], startAfter: 5_001_000 })
})

test('security 241: what the cluster says about an end can be stored, whatever characters it has', () => {
  const exit = { code: null, signal: null, at: 0, requested: false, failure: 'refused: \ud800 and \0.' }
  expect(lastExitOf(exit).reason).toBe('refused: \ufffd and \u2400')
  expect(describeCrashes(5, exit)).toBe('Ended 5 times within 5 minutes. The last time: refused: \ufffd and \u2400')
})

test('quantities and durations are parsed and formatted in Kubernetes notation', () => {
  expect([coresOf('500m'), coresOf('1.5'), bytesOf('512Mi'), bytesOf('1Gi')]).toEqual([
    0.5,
    1.5,
    512 * 2 ** 20,
    2 ** 30,
  ])
  expect([-5, 0, 45_000, 150_000, 11_520_000, 180_000_000].map(uptimeText)).toEqual([
    '0s',
    '0s',
    '45s',
    '2m 30s',
    '3h 12m',
    '2d 2h',
  ])
})

const exit = { code: null, signal: null, at: 1, requested: false, failure: undefined }

test('the attempt number counts the crashes of the last five minutes and the next start', () => {
  expect([[], [1000], [1000, 2000, 3000, 4000], [1000, 400_000], [1000, 300_999]].map(attemptNumber)).toEqual([
    1, 2, 5, 2, 3,
  ])
})

test.each([
  [{ ...exit, code: 4 }, 'Ended by itself with exit code 4', ', the last time with exit code 4'],
  [{ ...exit, signal: 'SIGKILL', requested: true }, 'Stopped by signal SIGKILL', ', the last time by signal SIGKILL'],
  [
    { ...exit, failure: 'Ended because the host process ended.' },
    'Ended because the host process ended',
    '. The last time: Ended because the host process ended',
  ],
  [
    { ...exit, failure: 'Java is not installed. Install it.' },
    'Java is not installed. Install it',
    '. The last time: Java is not installed. Install it',
  ],
])('an exit is described in one well-formed sentence (%#)', (how, reason, last) => {
  expect(lastExitOf(how).reason).toBe(reason)
  expect(describeCrashes(5, how)).toBe(`Ended 5 times within 5 minutes${last}`)
})
