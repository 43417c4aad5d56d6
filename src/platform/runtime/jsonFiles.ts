import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodeOf } from '../errors'

/** Replaces a JSON file atomically. @throws Node.js errors of the file system */
export function replaceJsonFile(file: string, value: unknown): void {
  writeFileSync(`${file}.new`, JSON.stringify(value), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/**
 * Reads the `.json` files of a directory, as written by `replaceJsonFile`.
 * @param directory need not exist.
 * @param onUnreadable called for a file that cannot be read or parsed; it is skipped.
 * @throws Node.js errors of the file system when the directory cannot be read
 */
export function readJsonFiles<Value>(
  directory: string,
  onUnreadable: (name: string, error: unknown) => void = () => undefined,
): Value[] {
  return jsonNamesIn(directory).flatMap((name) => {
    try {
      return [JSON.parse(readFileSync(join(directory, name), 'utf8')) as Value]
    } catch (error) {
      onUnreadable(name, error)
      return []
    }
  })
}

function jsonNamesIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith('.json'))
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return []
    throw error
  }
}
