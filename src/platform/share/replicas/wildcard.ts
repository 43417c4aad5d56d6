/**
 * Whether a name matches a pattern in which each `*` stands for any number of characters. Backtracks to the last `*`
 * only, so the number of steps is at most the product of both lengths.
 */
export function matchesWildcard(pattern: string, name: string): boolean {
  let [at, inName] = [0, 0]
  /** Where to retry after a mismatch: after the last `*` in the pattern, one character further in the name. */
  let [afterStar, retryAt] = [-1, 0]
  while (inName < name.length) {
    if (pattern[at] === '*') {
      afterStar = at += 1
      retryAt = inName
    } else if (pattern[at] === name[inName]) {
      at += 1
      inName += 1
    } else if (afterStar >= 0) {
      at = afterStar
      inName = retryAt += 1
    } else return false
  }
  while (pattern[at] === '*') at += 1
  return at === pattern.length
}
