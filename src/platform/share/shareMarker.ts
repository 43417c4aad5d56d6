import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { AppError, errorCodeOf } from '../errors'
import type { HeldDirectory } from './jail'
import { lstatOf } from './placing'

/** In the root of the shared area. Hidden like everything that begins so (`ownNames.ts`), and never removed. */
const MARKER = '.quarterdeck-share'
const MARKER_TEXT = 'Quarterdeck knows by this file that its shared area is mounted here. Do not remove it.\n'

/** Where the shared area is, and how to tell whether it is there. */
export interface ShareParts {
  shareDir: string
  /** Without one every directory in that place counts as the shared area. */
  marker?: ShareMarker
}

/** Tells the shared area from the empty directory that an unmounted one leaves (decisions §13). */
export interface ShareMarker {
  /** @throws AppError UNAVAILABLE when the directory in the place of the shared area is not it */
  check(root: HeldDirectory): Promise<void>
  /** Whether the marker was made before: then the directory must not be made by the platform any more. */
  readonly isMade: boolean
}

interface MarkerParts extends ShareParts {
  dataDir: string
  /** Where the deployments of the state have their directories, as definitions say it: `/lobby`. */
  dataDirectories: () => Promise<string[]>
  log: Logger
}

/**
 * The marker is made once, when a shared area is first used with this data directory, which notes that in `share.json`; after that
 * a directory without it counts as not mounted. An installation from before there were markers is recognised by the directories of
 * its deployments: one of them must be there.
 */
export async function openShareMarker({ dataDir, shareDir, dataDirectories, log }: MarkerParts): Promise<ShareMarker> {
  const noteFile = join(dataDir, 'share.json')
  const marked = await readNote(noteFile)
  let isMade = marked.includes(shareDir)
  let isTold = false
  let making: Promise<void> | undefined

  async function noteMade(): Promise<void> {
    await writeFile(`${noteFile}.new`, JSON.stringify({ marked: [...marked, shareDir] }), { mode: 0o600, flush: true })
    await rename(`${noteFile}.new`, noteFile)
    isMade = true
  }

  async function make(root: HeldDirectory): Promise<void> {
    const known = await dataDirectories()
    const isThere = async (directory: string) => (await lstatOf(root, directory.split('/')[1] ?? '')) !== undefined
    if (known.length > 0 && !(await Promise.all(known.map(isThere))).includes(true)) throw notMounted()
    try {
      const handle = await open(root.entry(MARKER), 'wx', 0o644)
      await handle.writeFile(MARKER_TEXT).finally(() => handle.close())
      log.info({ shareDir }, `the shared area got its marker, ${MARKER}`)
    } catch (error) {
      if (errorCodeOf(error) === 'EEXIST') return
      if (!['EROFS', 'EACCES', 'EPERM'].includes(errorCodeOf(error) ?? '')) throw error
      // Nothing can be written there, so nothing can be lost.
      if (!isTold)
        log.warn(
          { shareDir, code: errorCodeOf(error) },
          'the shared area cannot be written; without a marker it is not noticed when it is unmounted',
        )
      isTold = true
    }
  }

  return {
    get isMade() {
      return isMade
    },
    async check(root) {
      let hasMarker = await hasMarkerIn(root)
      if (!hasMarker && isMade) throw notMounted()
      if (!hasMarker) {
        await (making ??= make(root).finally(() => (making = undefined)))
        hasMarker = await hasMarkerIn(root)
      }
      if (hasMarker && !isMade) await (making ??= noteMade().finally(() => (making = undefined)))
    },
  }
}

async function hasMarkerIn(root: HeldDirectory): Promise<boolean> {
  return (await lstatOf(root, MARKER))?.isFile() ?? false
}

async function readNote(file: string): Promise<string[]> {
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { marked: string[] }).marked
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return []
    throw error
  }
}

function notMounted(): AppError {
  return new AppError(
    'UNAVAILABLE',
    `The shared area is not mounted: its marker file ${MARKER} is missing. Nothing is started or written there until it is back.`,
  )
}
