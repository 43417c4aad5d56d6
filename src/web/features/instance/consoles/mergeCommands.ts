/**
 * Merges several histories, oldest first. A command in several of them, such as one that was sent to all, appears once,
 * at its last use.
 */
export const mergeCommands = (histories: readonly (readonly string[])[]): string[] =>
  [...new Set(histories.flat().reverse())].reverse()
