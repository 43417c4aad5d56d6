import { createBackoff } from '../../../../src/platform/runtime/kubernetes/backoff'

afterEach(() => jest.restoreAllMocks())

test('delays double up to the maximum, and begin again after a success', () => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5)
  const backoff = createBackoff(100, 800)
  expect(Array.from({ length: 5 }, () => backoff.next())).toEqual([100, 200, 400, 800, 800])
  backoff.reset()
  expect(backoff.next()).toBe(100)
})

test.each([
  [0, 50],
  [1, 150],
])(
  'a delay spreads from half to one and a half of its mean: with the random number %d it is %d ms',
  (random, delay) => {
    jest.spyOn(Math, 'random').mockReturnValue(random)
    expect(createBackoff(100, 800).next()).toBe(delay)
  },
)
