/** How many of the reasons are told; the others are counted. */
const TOLD = 3

/** What a walk of a tree leaves out and goes on without, to be told at its end. */
export interface LeftOut {
  /** @param reason a sentence that names the entry, and says what to do. */
  add(reason: string): void
  /** One text for people; undefined when nothing was left out. */
  text(): string | undefined
}

export function createLeftOut(): LeftOut {
  const reasons: string[] = []
  let count = 0
  return {
    add(reason) {
      count += 1
      if (reasons.length < TOLD) reasons.push(reason)
    },
    text() {
      if (count === 0) return undefined
      return [...reasons, ...(count > TOLD ? [`And ${count - TOLD} more.`] : [])].join(' ')
    },
  }
}
