/** @jest-environment node */
import { timeAgo } from '../../../src/web/ui/time/timeAgo'

const NOW = Date.UTC(2026, 10, 20)

test.each([
  [0, 'now'],
  [59_999, 'now'],
  // The clock of the server is ahead.
  [-90_000, 'now'],
  [60_000, '1 minute ago'],
  [119_999, '1 minute ago'],
  [3_599_999, '59 minutes ago'],
  [3_600_000, '1 hour ago'],
  [86_400_000, '1 day ago'],
  [29 * 86_400_000, '29 days ago'],
  [60 * 86_400_000, '2 months ago'],
  [800 * 86_400_000, '2 years ago'],
])("an age of %i ms reads '%s'", (age, words) => {
  expect(timeAgo(NOW - age, NOW)).toBe(words)
})
