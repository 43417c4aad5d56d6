import type { ActivityRecord } from '../state/accounts/activity'

const WINDOW_MS = 60_000
/** Refused activities of a user that get an entry each, per minute. */
const MAX_REFUSALS = 300
/** Activities of a user with the same action that get an entry each, per minute. More is the work of a program. */
const MAX_OF_ACTION = 600

interface Window {
  count: number
  last: ActivityRecord
  timer: NodeJS.Timeout
}

export interface ActivityLimit {
  /** Counts an activity. @returns whether it gets an entry of its own */
  admits(activity: ActivityRecord): boolean
  /** Records the activities that were only counted. */
  close(): void
}

/**
 * Limits the entries of a user in the activity log. Entries are kept for 90 days, so a user who repeats any call could
 * fill the disk. Each action and each API key has a limit of its own, so that many entries of one hide none of another.
 * @param record called at the end of a minute with a summary of the activities beyond the limit
 */
export function createActivityLimit(record: (summary: ActivityRecord) => void): ActivityLimit {
  const windows = new Map<string, Window>()

  function end(key: string): void {
    const window = windows.get(key)
    if (!window) return
    clearTimeout(window.timer)
    windows.delete(key)
    const count = window.count - limitFor(window.last)
    if (count > 0) record(summaryOf(window.last, count))
  }

  return {
    admits(activity) {
      const { username, kind, action, succeeded, api_key: apiKey = null } = activity
      if (username === null || username === undefined) return true
      const key = JSON.stringify(succeeded ? [username, apiKey, kind, action] : [username, apiKey])
      const window = windows.get(key) ?? {
        count: 0,
        last: activity,
        timer: setTimeout(() => end(key), WINDOW_MS).unref(),
      }
      windows.set(key, window)
      window.count += 1
      window.last = activity
      return window.count <= limitFor(activity)
    },
    close() {
      for (const key of [...windows.keys()]) end(key)
    },
  }
}

const limitFor = ({ succeeded }: ActivityRecord) => (succeeded ? MAX_OF_ACTION : MAX_REFUSALS)

function summaryOf({ failure: _failure, ...last }: ActivityRecord, count: number): ActivityRecord {
  const isOne = count === 1
  if (last.succeeded) {
    const action = `${last.action}: ${count} more ${isOne ? 'time' : 'times'} within a minute`
    return { ...last, action, subject: null }
  }
  return {
    username: last.username,
    ...(last.api_key !== undefined && { api_key: last.api_key }),
    address: last.address,
    kind: 'session',
    action: `made ${count} more ${isOne ? 'call' : 'calls'} within a minute that ${isOne ? 'was' : 'were'} refused`,
    subject: null,
    succeeded: false,
  }
}
