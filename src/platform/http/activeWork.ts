import type { Caller } from '../caller'

/** Uploads and jobs in progress, which end when their user is deleted or gets other rights. */
export interface ActiveWork {
  /** @param end ends the work, which then fails. @returns a function that removes it, to be called at its end */
  add(caller: Caller, end: () => void): () => void
  /** Those who have work in progress. */
  callers(): Caller[]
  endAllOf(userId: number): void
}

export function createActiveWork(): ActiveWork {
  const active = new Set<{ caller: Caller; end: () => void }>()
  return {
    add(caller, end) {
      const entry = { caller, end }
      active.add(entry)
      return () => active.delete(entry)
    },
    callers: () => [...active].map(({ caller }) => caller),
    endAllOf(userId) {
      for (const { caller, end } of active) if (caller.userId === userId) end()
    },
  }
}
