import { createBackoff } from '../../../../src/platform/runtime/kubernetes/backoff'

test('delays double up to the maximum, each half to one and a half of its mean, and begin again after a success', () => {
  const backoff = createBackoff(100, 800)
  for (const mean of [100, 200, 400, 800, 800]) {
    const delay = backoff.next()
    expect(delay).toBeGreaterThanOrEqual(mean / 2)
    expect(delay).toBeLessThanOrEqual(mean * 1.5)
  }
  backoff.reset()
  expect(backoff.next()).toBeLessThanOrEqual(150)
})
