import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

declare global {
  /** Removed by the test environment; there is none in benchmarks. */
  var temporaryDirectories: string[] | undefined
}

/**
 * Creates a directory that is removed after the last hook of the test file.
 * @param parent `/var/tmp` for a directory on a disk; the default may be in memory
 */
export function createTemporaryDirectory(name: string, parent = tmpdir()): string {
  const path = mkdtempSync(join(parent, `quarterdeck-${name}-`))
  globalThis.temporaryDirectories?.push(path)
  return path
}

/** A directory for all tests of the file. */
export function useTemporaryDirectory(): () => string {
  let path = ''
  beforeAll(() => {
    path = createTemporaryDirectory('test')
  })
  return () => path
}
