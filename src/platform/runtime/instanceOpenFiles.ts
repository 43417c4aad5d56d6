import { openFileLimits } from '../openFiles'

/** Enough for a proxy with thousands of players, or a database. */
const MAX_OPEN_FILES = 16_384

/**
 * Limit of open files of each process of an instance. Without privileges it cannot exceed the limit of this process.
 */
export function instanceOpenFiles(): number {
  return Math.min(MAX_OPEN_FILES, openFileLimits()?.hard ?? MAX_OPEN_FILES)
}
