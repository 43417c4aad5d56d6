import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodeOf } from '../errors'

/** Replaces a file of JSON as a whole: a reader, or a crash, sees the old one or the new one. @throws Node.js errors of the file system */
export function replaceJsonFile(file: string, value: unknown): void {
  writeFileSync(`${file}.new`, JSON.stringify(value), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/**
 * What `replaceJsonFile` has written to the files of a directory that are called `….json`.
 * @param directory need not exist.
 * @param onUnreadable is told of a file that cannot be read or is no JSON: it was not written so, and is left out.
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
