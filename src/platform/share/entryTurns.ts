import type { HeldDirectory } from './jail'
import { createKeyedQueue } from './keyedQueue'

/**
 * Whatever gives a name of the shared area another meaning takes its turn here, with all the names it is about: a save, a move and a
 * deletion of one entry come one after another, and none works on what another has half done. Within this process; what other
 * programs do is for each work to stand. `work` must not ask for a turn itself.
 * @param entries by directory, whatever path leads there, and name.
 */
export type EntryTurns = <Result>(
  entries: [directory: HeldDirectory, name: string][],
  work: () => Promise<Result>,
) => Promise<Result>

export function createEntryTurns(): EntryTurns {
  const oneByOne = createKeyedQueue()
  return async (entries, work) => {
    const keys = await Promise.all(
      entries.map(async ([directory, name]) => {
        const { dev, ino } = await directory.stats()
        return `${dev}:${ino}:${name}`
      }),
    )
    // Everybody in the same order: two that want the same names never wait for each other.
    return [...new Set(keys)].sort().reduceRight((inner, key) => () => oneByOne(key, inner), work)()
  }
}
