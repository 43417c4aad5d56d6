import type { FileHandle } from 'node:fs/promises'
import { AppError } from '../../errors'
import type { ArchiveKind } from './archiveFormat'
import { spawnArchiveProcess, type ArchiveLimits } from './archiveProcess'
import {
  entryError,
  parseEntryPath,
  splitError,
  tooLargeError,
  tooManyEntriesError,
  type ExtractionLimits,
} from './extraction'
import type { OpenDirectory } from '../jail'
import type { JobControl } from '../transfers/jobs'
import { exitCodes } from './sevenZipExits'
import { failureOf, limitError } from './unpackProcess'

/** Limits of the child process: crafted dictionaries can demand gigabytes. */
const LIMITS: ArchiveLimits = { memoryBytes: 2 ** 30, idleTimeoutMs: 60_000 }
/** Maximum size of 7-Zip's listing, in bytes. */
const LISTING_LIMIT = 256 * 2 ** 20

/**
 * Extracts a `.7z`, `.rar` or `.zip` into an empty directory, with 7-Zip in a child process with limits.
 * @param name the archive's name; 7-Zip derives names from it.
 * @param processLimits limits of the child process; overridden by tests.
 * @throws AppError INVALID_INPUT (damaged, encrypted, links, leads outside, timeout), TOO_LARGE
 */
export async function unpackSevenZip(
  archive: FileHandle,
  name: string,
  kind: ArchiveKind,
  to: OpenDirectory,
  limits: ExtractionLimits,
  control: JobControl,
  processLimits = LIMITS,
): Promise<void> {
  const source: Source = {
    archive,
    name,
    kind,
    to,
    limits,
    processLimits,
    signal: control.signal,
  }
  control.progress({ total: await list(source) })
  await run('extract', source, (line) => {
    const { size: done, entry } = JSON.parse(line) as { size: number; entry?: string }
    control.progress({ done, ...(entry !== undefined && { entry }) })
  })
}

interface Source {
  archive: FileHandle
  name: string
  kind: ArchiveKind
  to: OpenDirectory
  limits: ExtractionLimits
  processLimits: ArchiveLimits
  signal: AbortSignal
}

/**
 * Lists the archive, so that every name is checked before the first byte is written.
 * @returns the unpacked size in bytes
 */
async function list(source: Source): Promise<number> {
  const { limits } = source
  let size = 0
  let entries = 0
  let path = ''
  let listingLength = 0
  let problem: AppError | undefined
  await run('list', source, (line) => {
    listingLength += line.length
    // With `s`: a value may hold characters that end a line elsewhere, such as a carriage return or U+2028.
    const [, key, value = ''] = /^([A-Z][A-Za-z ]*) = ?(.*)$/s.exec(line) ?? []
    if (key === 'Path') {
      path = value
      entries += 1
      problem ??= errorOf(() => parseEntryPath(value))
      // 7-Zip prints `/` as separator. How it would write such a name is not known.
      if (value.includes('\\')) problem ??= entryError(value, 'has a backslash in its name')
    } else if (key === 'Size') size += Number(value) || 0
    else if (key === 'Encrypted' && value === '+') problem ??= entryError(path, 'is encrypted')
    else if ((key === 'Symbolic Link' || key === 'Hard Link') && value !== '') problem ??= entryError(path, 'is a link')
    else if (key === 'Attributes' && / l[r-][w-]/.test(value)) problem ??= entryError(path, 'is a link')
    if (entries > limits.entries || listingLength > LISTING_LIMIT) problem ??= tooManyEntriesError(limits)
    return problem === undefined
  })
  if (problem) throw problem
  if (size > limits.size) throw tooLargeError(limits)
  return size
}

/** @param onLine returns false to stop the process. */
async function run(
  mode: 'list' | 'extract',
  { archive, name, to, kind, limits, processLimits, signal }: Source,
  onLine: (line: string) => boolean | void,
): Promise<void> {
  const end = await spawnArchiveProcess({
    program: 'share/archives/sevenZipMain',
    // By its first bytes, 7-Zip would take a self-extracting zip for a program.
    args: [mode, name, JSON.stringify(limits), ...(kind === 'zip' ? ['-tzip'] : [])],
    descriptors: [archive.fd, to.fd],
    name,
    signal,
    limits: processLimits,
    onLine,
  })
  if (end === 'stopped') return
  if (typeof end === 'string') throw limitError(end, processLimits)
  if (end.code === 0) return
  if (end.code === exitCodes.tooLarge) throw tooLargeError(limits)
  if (end.code === exitCodes.tooManyEntries) throw tooManyEntriesError(limits)
  if (end.code === exitCodes.link)
    throw new AppError('INVALID_INPUT', 'The archive was not extracted: it contains links.')
  if (end.code === exitCodes.longName)
    throw new AppError('INVALID_INPUT', 'The archive was not extracted: one of its names is too long.')
  if (end.code === exitCodes.encrypted)
    throw new AppError('INVALID_INPUT', 'The archive was not extracted: it is encrypted.')
  throw end.code !== null && /\.part\d+\.rar$/i.test(name) ? splitError() : failureOf(end.code, kind)
}

function errorOf(check: () => unknown): AppError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
