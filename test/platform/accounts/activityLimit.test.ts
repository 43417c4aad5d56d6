import { createActivityLimit } from '../../../src/platform/accounts/activityLimit'
import type { ActivityRecord } from '../../../src/platform/state/accounts/activity'

/** What is recorded of these many equal activities beyond those that get an entry each. */
function summaryOf(activity: Partial<ActivityRecord>, count: number): string[] {
  const summaries: string[] = []
  const limit = createActivityLimit(({ action }) => summaries.push(action))
  const record = { username: 'eve', address: null, kind: 'file', action: 'created file', succeeded: true, ...activity }
  for (let done = 0; done < count; done++) limit.admits(record as ActivityRecord)
  limit.close()
  return summaries
}

test.each([
  [300, []],
  [301, ['made 1 more call within a minute that was refused']],
  [302, ['made 2 more calls within a minute that were refused']],
])('of %i refused calls within a minute, those beyond 300 are recorded as a number', (count, summaries) => {
  expect(summaryOf({ succeeded: false }, count)).toEqual(summaries)
})

test.each([
  [600, []],
  [601, ['created file: 1 more time within a minute']],
  [602, ['created file: 2 more times within a minute']],
])('of %i equal actions within a minute, those beyond 600 are recorded as a number', (count, summaries) => {
  expect(summaryOf({}, count)).toEqual(summaries)
})
