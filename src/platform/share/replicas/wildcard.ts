/**
 * Whether a name matches a pattern in which each `*` stands for any number of characters. Backtracks to the last `*`
 * only, so the number of steps is at most the product of both lengths.
 */
export function matchesWildcard(pattern: string, name: string): boolean {
  let inPattern = 0
  let inName = 0
  /** Where to retry after a mismatch: after the last `*` in the pattern, one character further in the name. */
  let retry: { inPattern: number; inName: number } | undefined
  while (inName < name.length) {
    if (pattern[inPattern] === '*') {
      inPattern += 1
      retry = { inPattern, inName: inName + 1 }
    } else if (pattern[inPattern] === name[inName]) {
      inPattern += 1
      inName += 1
    } else if (retry) {
      inPattern = retry.inPattern
      inName = retry.inName
      retry.inName += 1
    } else return false
  }
  while (pattern[inPattern] === '*') inPattern += 1
  return inPattern === pattern.length
}
