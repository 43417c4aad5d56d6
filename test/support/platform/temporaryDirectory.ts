import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A directory that is removed after the test file.
 * @param end stops its users before that: jest runs hooks in the order of their definition, so an `afterAll` further
 * below would be too late.
 */
export function useTemporaryDirectory(end: () => unknown = () => undefined): () => string {
  let path = ''
  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), 'quarterdeck-test-'))
  })
  afterAll(async () => {
    await end()
    await rm(path, { recursive: true, force: true })
  })
  return () => path
}
