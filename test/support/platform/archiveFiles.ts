import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import type { ExtractionLimits } from '../../../src/platform/share/archives/extraction'
import { openFiles, type Files } from '../../../src/platform/share/files'

/** The ids of two users. */
export const ANN = 1
export const BOB = 2

/** Opens a new shared area for each test of a file. */
export function useArchiveFiles() {
  let base: string
  let share: string
  let files: Files

  async function open(limitsOf?: (size: number) => ExtractionLimits): Promise<void> {
    files = await openFiles({
      dataDir: join(base, 'data'),
      shareDir: share,
      log: pino({ level: 'silent' }),
      now: Date.now,
      ...(limitsOf && { limitsOf }),
    })
  }

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'quarterdeck-archives-'))
    share = join(base, 'share')
    await mkdir(share)
    await mkdir(join(base, 'data'))
    await open()
  })
  afterEach(async () => {
    await files.close()
    await rm(base, { recursive: true, force: true })
  })

  async function tree(at = share, prefix = ''): Promise<Record<string, string>> {
    const found: Record<string, string> = {}
    for (const entry of await readdir(at, { withFileTypes: true })) {
      const path = join(at, entry.name)
      if (entry.isDirectory())
        Object.assign(found, { [`${prefix}${entry.name}/`]: '' }, await tree(path, `${prefix}${entry.name}/`))
      else
        found[prefix + entry.name] = entry.isSymbolicLink() ? `->${await readlink(path)}` : await readFile(path, 'utf8')
    }
    return found
  }

  return {
    /** A directory of the test, outside the shared area. */
    base: () => base,
    /** The path of the shared area. */
    share: () => share,
    files: () => files,
    /**
     * Opens the shared area again, after `files().close()`. @param limitsOf limits of an extraction, by the size of the
     * archive
     */
    open,
    /** Every path below the shared area including temporary files, with contents of files and targets of links. */
    tree,
    /** Writes a file at the top of the shared area. */
    put: (name: string, content: Buffer | string) => writeFile(join(share, name), content),
  }
}
