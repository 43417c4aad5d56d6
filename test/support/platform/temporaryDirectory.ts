import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory that is removed after the test file. */
export function useTemporaryDirectory(): () => string {
  let path = ''
  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), 'quarterdeck-test-'))
  })
  afterAll(() => rm(path, { recursive: true, force: true }))
  return () => path
}
