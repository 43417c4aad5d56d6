import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A directory that is removed after the test file.
 * @param end ends what uses it, before that: jest calls hooks in the order of their definition, so an `afterAll` further below comes too late.
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
