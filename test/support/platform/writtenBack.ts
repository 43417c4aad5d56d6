import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pino from 'pino'
import { openFiles, type Files } from '../../../src/platform/share/files'
import { createSkippedEntries } from '../../../src/platform/share/skippedEntries'
import { useTemporaryDirectory } from './temporaryDirectory'

/** Writes files below a directory, by their paths. */
export async function put(root: string, tree: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(tree)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

/** The paths of all files and links below a directory. */
export const filesIn = async (root: string) =>
  (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted()

/** For each test, the empty copy of an instance, and the empty directory of its deployment in the shared area. */
export function useWriteBack() {
  const directory = useTemporaryDirectory()
  const share = () => join(directory(), 'share')
  const copy = () => join(directory(), 'copy')
  const lobby = () => join(share(), 'lobby')
  let files: Files
  /** Directories that the state knows as mounts of their own. */
  let mounted: string[]

  beforeEach(async () => {
    for (const path of [share(), copy()]) await rm(path, { recursive: true, force: true })
    await mkdir(lobby(), { recursive: true })
    await mkdir(copy())
    mounted = []
    files = await openFiles({
      dataDir: join(directory(), 'data'),
      shareDir: share(),
      mountedDirectories: async () => mounted,
      log: pino({ level: 'silent' }),
      now: Date.now,
    })
  })
  afterEach(() => files.close())

  const { signal } = new AbortController()
  const task = (paths: string[]) => ({ copy: copy(), directory: lobby(), dataDirectory: '/lobby', paths })
  return {
    directory,
    share,
    copy,
    lobby,
    setMounted: (...paths: string[]) => void (mounted = paths),
    /** Writes back what these paths name. @returns the number of files written */
    writeBack: (...paths: string[]) => files.writeBack(task(paths), signal),
    writeBackSince: (copiedAt: number, ...paths: string[]) => files.writeBack({ ...task(paths), copiedAt }, signal),
    /** As `writeBack`. @returns also what was left out */
    async writeBackReporting(this: void, ...paths: string[]) {
      const skipped = createSkippedEntries()
      const written = await files.writeBack(task(paths), signal, skipped)
      return { written, summary: skipped.summary() }
    },
  }
}
