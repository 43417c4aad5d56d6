/**
 * Returns the commands of several histories as one, oldest first. A command that several have, as those that were sent
 * to all of them, is in it once, where it was used last.
 */
export const mergeCommands = (histories: readonly (readonly string[])[]): string[] =>
  [...new Set(histories.flat().reverse())].reverse()
