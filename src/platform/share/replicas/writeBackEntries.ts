import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { mkdir, statfs } from 'node:fs/promises'
import { AppError, errorCodeOf } from '../../errors'
import { MAX_NAME_BYTES } from '../apiPath'
import type { Temporaries } from '../changes/temporaries'
import { DEPTH_LIMIT, tooDeepMessage, truncatedPath } from '../depth'
import { lstatOf } from '../directoryEntries'
import { throwReadFailure } from '../fileFailure'
import { isInternalName } from '../internalNames'
import { namesIn, openRegularFile, openSubdirectory, withDirectory, type OpenDirectory } from '../jail'
import { inheritOwner } from '../ownership'
import type { SkippedEntries } from '../skippedEntries'
import { copyWithHoles, HOLES_LIMIT, holesOf, tooManyHolesMessage } from './sparseFiles'
import { matchesWildcard } from './wildcard'

/** File systems store a modification time that is set with microsecond precision at best. */
const MTIME_PRECISION_MS = 1
/** How far the clock of a file server may be ahead. */
const CLOCK_SKEW_MS = 300_000

interface WriteContext {
  temporaries: Temporaries
  signal: AbortSignal
  skipped: SkippedEntries
  /** Name of the copy, from which the names of what is written beside something else are made. */
  copyName: string
  /** When the copy was complete, 0 if that is not known. */
  copiedAt: number
  /** Bytes of holes in the files so far. */
  holes: number
}

/**
 * Writes back the entries of a copy that match a pattern. Creates directories in the target only for these.
 * @param openTarget opens the directory that corresponds to `from`
 * @param pattern one pattern for each name of a path. @param parents the names from the copy to `from`
 * @returns the number of files written
 * @throws AppError CONFLICT, DISK_FULL, Node.js errors, the signal's reason
 */
export async function writeMatchesBack(
  from: OpenDirectory,
  openTarget: () => Promise<OpenDirectory>,
  [pattern = '', ...rest]: string[],
  parents: string[],
  context: WriteContext,
): Promise<number> {
  let written = 0
  const parentPath = parents.map((parent) => `${parent}/`).join('')
  for await (const name of usableNamesIn(from, parentPath, context, (text) => matchesWildcard(pattern, text))) {
    // Below a wildcard, and in directories that are written back, links are omitted like special files.
    if (pattern === name && (await lstatOf(from, name))?.isSymbolicLink()) {
      context.skipped.add(`"${parentPath}${name}" is a link, through which nothing is written back.`)
      continue
    }
    if (rest.length === 0) {
      written += await withDirectory(openTarget(), (to) =>
        writeEntryBack(from, to, name, parentPath, parents.length + 1, context),
      )
      continue
    }
    const below = await openSubdirectory(from, name)
    if (!below) continue
    const openBelow = () => withDirectory(openTarget(), (to) => ensureSubdirectory(to, name, context))
    written += await withDirectory(below, (source) =>
      writeMatchesBack(source, openBelow, rest, [...parents, name], context),
    )
  }
  return written
}

type Times = Pick<Stats, 'mtimeMs' | 'ctimeMs' | 'size'>

/**
 * When a file got its contents, in milliseconds. Its modification time may lie in the future, because archives are
 * extracted with their times, which may be those of another time zone. The time of the last change of the inode is set
 * by the system alone.
 */
const changedAt = ({ mtimeMs, ctimeMs }: Times) => Math.min(mtimeMs, ctimeMs)

/**
 * Whether a file in the directory stays: it is the one that was copied, or was changed after its copy. Programs choose
 * the modification times of files: those that are downloaded, extracted or restored are old ones. So these times decide
 * only where both files have changed since the copy was made, or neither: then a directory may have been renamed.
 */
function isNewest(existing: Times, copy: Times, copiedAt: number): boolean {
  const isSame = Math.abs(existing.mtimeMs - copy.mtimeMs) <= MTIME_PRECISION_MS
  if (copiedAt > 0) {
    const isExistingChanged = existing.ctimeMs > copiedAt
    if (isExistingChanged !== copy.ctimeMs > copiedAt)
      return isExistingChanged || (isSame && existing.size === copy.size)
  }
  if (isSame) return true
  // A change in the future was made before the clock was set back.
  return changedAt(existing) >= changedAt(copy) && changedAt(existing) <= Date.now() + CLOCK_SKEW_MS
}

const NEWER_EXISTS = new Error('A newer file exists.')

async function writeFileBack(
  from: OpenDirectory,
  to: OpenDirectory,
  name: string,
  parentPath: string,
  context: WriteContext,
): Promise<number> {
  const opened = await openRegularFile(from, name).catch(throwReadFailure(`${parentPath}${name}`))
  if (!opened) return 0
  const { handle, stats } = opened
  try {
    const targetName = await findName(name, NO_FILE, context, async (candidate) =>
      (await lstatOf(to, candidate))?.isDirectory() === true ? undefined : candidate,
    )
    const keepsExisting = async () => {
      const existing = await lstatOf(to, targetName)
      return existing?.isFile() === true && isNewest(existing, stats, context.copiedAt)
    }
    if (await keepsExisting()) return 0
    const holes = holesOf(stats)
    if (context.holes + holes > HOLES_LIMIT) {
      context.skipped.add(tooManyHolesMessage(`${parentPath}${name}`, stats))
      return 0
    }
    context.holes += holes
    const { bavail, bsize } = await statfs(to.procPath)
    if (stats.size - holes > bavail * bsize)
      throw new AppError('DISK_FULL', `The disk of the shared area has no room for "${name}".`)
    const temporary = await context.temporaries.file(to, stats.mode & 0o777)
    try {
      // Only up to the measured size: a leftover process may still be writing.
      await copyWithHoles(handle, stats.size, temporary.handle, context.signal)
      // As texts: a Date cannot represent every time of a file, and Node.js replaces negative numbers by the present.
      await temporary.handle.utimes(String(stats.atimeMs / 1000), String(stats.mtimeMs / 1000))
    } catch (error) {
      await temporary.discard()
      throw error
    }
    try {
      await temporary.replace(targetName, to, async () => {
        // Check again: copying takes as long as the file is large, and a newer one may have been stored meanwhile.
        if (await keepsExisting()) throw NEWER_EXISTS
      })
    } catch (error) {
      if (error === NEWER_EXISTS) return 0
      throw error
    }
    return 1
  } finally {
    await handle.close()
  }
}

/** @param parentPath path of its directory, each name with a trailing slash. @param level of the entry, from 1 */
async function writeEntryBack(
  from: OpenDirectory,
  to: OpenDirectory,
  name: string,
  parentPath: string,
  level: number,
  context: WriteContext,
): Promise<number> {
  context.signal.throwIfAborted()
  const below = await openSubdirectory(from, name)
  if (!below) return writeFileBack(from, to, name, parentPath, context)
  if (level > DEPTH_LIMIT) {
    await below.close()
    context.skipped.add(tooDeepMessage(`${parentPath}${name}`))
    return 0
  }
  return withDirectory(below, async (source) =>
    withDirectory(ensureSubdirectory(to, name, context), async (target) => {
      let written = 0
      const path = `${parentPath}${name}/`
      for await (const entry of usableNamesIn(source, path, context))
        written += await writeEntryBack(source, target, entry, path, level + 1, context)
      return written
    }),
  )
}

/** The matching names, without those of the platform. Names that are not UTF-8 are reported: their files are lost. */
async function* usableNamesIn(
  directory: OpenDirectory,
  parentPath: string,
  { skipped }: WriteContext,
  matches: (name: string) => boolean = () => true,
): AsyncGenerator<string> {
  for await (const name of namesIn(directory)) {
    const text = typeof name === 'string' ? name : name.toString('latin1')
    if (isInternalName(text) || !matches(text)) continue
    if (typeof name === 'string') yield name
    else skipped.add(`"${truncatedPath(parentPath + text)}" has a name that is not UTF-8. Give it another name.`)
  }
}

const NO_DIRECTORY = 'is a file or a link in the shared area, not a directory'
const NO_FILE = 'is a directory in the shared area, not a file'

/** Opens or creates a directory. If something else has its name, opens or creates one beside that. */
function ensureSubdirectory(directory: OpenDirectory, name: string, context: WriteContext): Promise<OpenDirectory> {
  return findName(name, NO_DIRECTORY, context, (candidate) => makeSubdirectory(directory, candidate))
}

/** @returns undefined if something else has its name */
async function makeSubdirectory(directory: OpenDirectory, name: string): Promise<OpenDirectory | undefined> {
  try {
    await mkdir(directory.entryPath(name), { mode: 0o755 })
    await inheritOwner(directory, name)
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  }
  return openSubdirectory(directory, name)
}

/** Number of names beside an entry. */
const NAMES_BESIDE = 20

/**
 * Finds a name for an entry. Its own may be taken, as by a link that was made since the copy: retrying would not end
 * while that is there, and the instance with it. Then it tries names beside it. They are the same for each attempt, so
 * that a repeated one creates no second entry.
 * @param reason why the name is taken, after the name
 * @param use what is done with a name; undefined if it is taken
 * @throws AppError CONFLICT if all names are taken
 */
async function findName<Result>(
  name: string,
  reason: string,
  { copyName, skipped }: WriteContext,
  use: (candidate: string) => Promise<Result | undefined>,
): Promise<Result> {
  const own = await use(name)
  if (own !== undefined) return own
  for (let count = 1; count <= NAMES_BESIDE; count += 1) {
    const beside = lengthened(name, ` (${copyName})${count === 1 ? '' : ` (${count})`}`)
    const found = await use(beside)
    if (found === undefined) continue
    skipped.add(`"${name}" ${reason}. What is kept of it is in "${beside}".`)
    return found
  }
  throw new AppError('CONFLICT', `"${name}" ${reason}, and the names beside it are taken as well.`)
}

/**
 * A name with an addition. A name that leaves no room for it loses characters at its end, and gets a hash: names that
 * begin alike must not become one, in which one file would replace another.
 */
function lengthened(name: string, addition: string): string {
  if (Buffer.byteLength(name + addition) <= MAX_NAME_BYTES) return name + addition
  const end = `~${createHash('sha256').update(name).digest('hex').slice(0, 16)}${addition}`
  const characters = [...name]
  while (Buffer.byteLength(characters.join('') + end) > MAX_NAME_BYTES) characters.pop()
  return characters.join('') + end
}
