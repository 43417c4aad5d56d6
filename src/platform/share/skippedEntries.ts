/** Number of reasons that are listed; the rest is counted. */
const MAX_LISTED = 3

/** Collects the entries that a walk of a tree skipped, for one report at its end. */
export interface SkippedEntries {
  /** @param reason a sentence that names the entry and says what to do; repeated ones of those listed do not count. */
  add(reason: string): void
  /** The report; undefined when nothing was skipped. */
  summary(): string | undefined
}

export function createSkippedEntries(): SkippedEntries {
  const reasons: string[] = []
  let count = 0
  return {
    add(reason) {
      if (reasons.includes(reason)) return
      count += 1
      if (reasons.length < MAX_LISTED) reasons.push(reason)
    },
    summary() {
      if (count === 0) return undefined
      return [...reasons, ...(count > MAX_LISTED ? [`And ${count - MAX_LISTED} more.`] : [])].join(' ')
    },
  }
}
