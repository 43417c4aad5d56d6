import { lstat, open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createBoundedRead } from '../concurrency/sharedRead'
import { AppError, errorCodeOf } from '../errors'
import type { OpenDirectory } from './jail'
import { lstatOf } from './directoryEntries'

/** A file in the root of the shared area, hidden by its prefix (`internalNames.ts`) and never removed. */
const MARKER = '.quarterdeck-share'
const MARKER_TEXT = 'Quarterdeck uses this file to detect that its shared area is mounted. Do not remove it.\n'

/** Location of the shared area, and a check that it is mounted. */
export interface ShareLocation {
  shareDir: string
  /** Without a marker, any directory at that path counts as the shared area. */
  marker?: ShareMarker
  /**
   * Directories of all known deployments, as in their definitions: `/lobby`. If undefined, links may lead from one
   * deployment to another.
   */
  dataDirectories?: () => Promise<string[]>
}

/** Network file systems answer in milliseconds, or not at all. */
const RESPONSE_TIMEOUT_MS = 2000

/** Distinguishes the mounted shared area from the empty directory that an unmount leaves (decisions §13). */
export interface ShareMarker {
  /**
   * Checks that the shared area answers; call it before an access. Each access to a hung network share blocks one of
   * the few threads for files, which signing in needs too. Callers share one check, so only one thread blocks.
   * @throws AppError UNAVAILABLE
   */
  requireAnswer(): Promise<void>
  /** @throws AppError UNAVAILABLE when the directory is not the shared area */
  check(root: OpenDirectory): Promise<void>
  /** Whether the marker exists already. Then the platform must not create the directory. */
  readonly isInitialised: boolean
}

interface MarkerParts extends ShareLocation {
  dataDir: string
  /** Directories of all known deployments, as in their definitions: `/lobby`. */
  dataDirectories: () => Promise<string[]>
  log: Logger
}

/**
 * The marker is created once, on the first use of a shared area with this data directory, which records it in
 * `share.json`. Afterwards, a directory without the marker counts as not mounted. An installation that is older than
 * the marker is recognised by its deployments: the directory of at least one must exist.
 */
export async function openShareMarker({ dataDir, shareDir, dataDirectories, log }: MarkerParts): Promise<ShareMarker> {
  const recordFile = join(dataDir, 'share.json')
  const marked = await readMarkedDirectories(recordFile)
  let isInitialised = marked.includes(shareDir)
  let isWarned = false
  let pendingInit: Promise<void> | undefined
  const ask = createBoundedRead(() => lstat(join(shareDir, MARKER)).catch(() => undefined), RESPONSE_TIMEOUT_MS)

  async function recordInitialised(): Promise<void> {
    await writeFile(`${recordFile}.new`, JSON.stringify({ marked: [...marked, shareDir] }), {
      mode: 0o600,
      flush: true,
    })
    await rename(`${recordFile}.new`, recordFile)
    isInitialised = true
  }

  async function createMarker(root: OpenDirectory): Promise<void> {
    const known = await dataDirectories()
    const exists = async (directory: string) => (await lstatOf(root, directory.split('/')[1] ?? '')) !== undefined
    if (known.length > 0 && !(await Promise.all(known.map(exists))).includes(true)) throw notMounted()
    try {
      const handle = await open(root.entryPath(MARKER), 'wx', 0o644)
      await handle.writeFile(MARKER_TEXT).finally(() => handle.close())
      log.info({ shareDir }, `created the marker file of the shared area, ${MARKER}`)
    } catch (error) {
      if (errorCodeOf(error) === 'EEXIST') return
      if (!['EROFS', 'EACCES', 'EPERM'].includes(errorCodeOf(error) ?? '')) throw error
      // A read-only area cannot lose data, so continue without a marker.
      if (!isWarned)
        log.warn(
          { shareDir, code: errorCodeOf(error) },
          'the shared area is not writable; without a marker file, unmounting it is not detected',
        )
      isWarned = true
    }
  }

  return {
    get isInitialised() {
      return isInitialised
    },
    async requireAnswer() {
      await ask().catch(() => {
        throw new AppError(
          'UNAVAILABLE',
          'The shared area does not answer. If it is mounted over a network, check its server.',
        )
      })
    },
    async check(root) {
      let hasMarker = await hasMarkerIn(root)
      if (!hasMarker && isInitialised) throw notMounted()
      if (!hasMarker) {
        await (pendingInit ??= createMarker(root).finally(() => (pendingInit = undefined)))
        hasMarker = await hasMarkerIn(root)
      }
      if (hasMarker && !isInitialised)
        await (pendingInit ??= recordInitialised().finally(() => (pendingInit = undefined)))
    },
  }
}

async function hasMarkerIn(root: OpenDirectory): Promise<boolean> {
  return (await lstatOf(root, MARKER))?.isFile() ?? false
}

async function readMarkedDirectories(file: string): Promise<string[]> {
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
    `The shared area is not mounted: its marker file ${MARKER} is missing. Nothing is started or written there until it is mounted again.`,
  )
}
