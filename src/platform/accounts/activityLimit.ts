import type { ActivityRecord } from '../state/accounts/activity'

const WINDOW_MS = 60_000
/** What a user was refused in a minute that is recorded one by one. */
const MAX_REFUSALS = 300
/** How often a user does one thing in a minute that is recorded one by one. More is the work of a program. */
const MAX_OF_ACTION = 600

interface Window {
  count: number
  last: ActivityRecord
  timer: NodeJS.Timeout
}

export interface ActivityLimit {
  /** Counts an activity. @returns whether it is recorded by itself */
  admits(activity: ActivityRecord): boolean
  /** Records what was only counted. */
  close(): void
}

/**
 * Limits what the activity log has of a user one by one: nobody can remove an entry within 90 days, so that whoever may
 * call anything could fill the disk. Different actions, and the acts of each API key, count by themselves, so that many
 * of one hide none of another.
 * @param record called at the end of a minute with the number of those beyond the limit
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
  if (last.succeeded) return { ...last, action: `${last.action}: ${count} more times within a minute`, subject: null }
  return {
    username: last.username,
    ...(last.api_key !== undefined && { api_key: last.api_key }),
    address: last.address,
    kind: 'session',
    action: `made ${count} more calls within a minute that were refused`,
    subject: null,
    succeeded: false,
  }
}
