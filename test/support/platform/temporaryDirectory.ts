import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

declare global {
  /** Removed by the test environment. */
  var temporaryDirectories: string[]
}

/** A directory that is removed after the last hook of the test file. */
export function useTemporaryDirectory(): () => string {
  let path = ''
  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), 'quarterdeck-test-'))
    temporaryDirectories.push(path)
  })
  return () => path
}
