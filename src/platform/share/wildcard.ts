/**
 * Whether a name matches a pattern in which each `*` stands for any number of characters. Takes at most the product of both lengths in
 * steps, whatever the pattern: it goes back to the last `*` only.
 */
export function matchesWildcard(pattern: string, name: string): boolean {
  let [at, inName] = [0, 0]
  /** Where to go on when what follows the last `*` does not match: after it in the pattern, and one further in the name. */
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
