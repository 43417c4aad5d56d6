import type { FileHandle } from 'node:fs/promises'
import { AppError } from '../errors'
import { runArchiveProcess, type ArchiveLimits } from './archiveProcess'
import { badEntry, damaged, partsOf, tooLarge, tooManyEntries, type ExtractionLimits } from './extraction'
import type { HeldDirectory } from './jail'
import type { JobControl } from './jobs'
import { exitCodes } from './sevenZipExits'
import { notExtracted } from './unpackProcess'

/** What reading an archive may take: dictionaries can be made to want gigabytes. */
const LIMITS: ArchiveLimits = { memory: 2 ** 30, silence: 60_000 }
/** Listings say little about an entry in more than this. In bytes. */
const LISTING_LIMIT = 256 * 2 ** 20

/**
 * Extracts a `.7z` or `.rar` into an empty directory, by 7-Zip in a process of its own with limits on memory, size and entries.
 * @param name of the archive, which 7-Zip derives names from.
 * @param own limits of the process, for tests.
 * @throws AppError INVALID_INPUT (damaged, encrypted, links, a name that leads out, no response), TOO_LARGE
 */
export async function unpackSevenZip(
  archive: FileHandle,
  name: string,
  to: HeldDirectory,
  limits: ExtractionLimits,
  control: JobControl,
  own = LIMITS,
): Promise<void> {
  const source: Source = {
    archive,
    name,
    to,
    kind: name.toLowerCase().endsWith('.rar') ? 'rar' : '7z',
    limits,
    own,
    signal: control.signal,
  }
  const { size } = await list(source)
  control.progress({ total: size })
  await run('extract', source, (line) => {
    const { size: done, entry } = JSON.parse(line) as { size: number; entry?: string }
    control.progress({ done, ...(entry !== undefined && { entry }) })
  })
}

interface Source {
  archive: FileHandle
  name: string
  to: HeldDirectory
  kind: string
  limits: ExtractionLimits
  own: ArchiveLimits
  signal: AbortSignal
}

/** Every name is judged before the first byte is written. */
async function list(source: Source): Promise<{ size: number }> {
  const { limits } = source
  let [size, entries, path, read] = [0, 0, '', 0]
  let wrong: AppError | undefined
  await run('list', source, (line) => {
    read += line.length
    const [, key, value = ''] = /^([A-Z][A-Za-z ]*) = ?(.*)$/.exec(line) ?? []
    if (key === 'Path') {
      path = value
      entries += 1
      // 7-Zip writes the separator of this system; a backslash stands for itself.
      wrong ??= caught(() => partsOf(value))
    } else if (key === 'Size') size += Number(value) || 0
    else if (key === 'Encrypted' && value === '+') wrong ??= badEntry(path, 'is encrypted')
    else if ((key === 'Symbolic Link' || key === 'Hard Link') && value !== '') wrong ??= badEntry(path, 'is a link')
    else if (key === 'Attributes' && / l[r-][w-]/.test(value)) wrong ??= badEntry(path, 'is a link')
    if (entries > limits.entries || read > LISTING_LIMIT) wrong ??= tooManyEntries(limits)
    return wrong === undefined
  })
  if (wrong) throw wrong
  if (size > limits.size) throw tooLarge(limits)
  return { size }
}

/** @param onLine may return false: then nothing more is wanted. */
async function run(
  mode: 'list' | 'extract',
  { archive, name, to, kind, limits, own, signal }: Source,
  onLine: (line: string) => boolean | void,
): Promise<void> {
  const end = await runArchiveProcess({
    program: 'share/sevenZipMain',
    args: [mode, name, JSON.stringify(limits)],
    descriptors: [archive.fd, to.fd],
    name,
    signal,
    limits: own,
    onLine,
  })
  if (end === 'enough') return
  if (typeof end === 'string') throw notExtracted(end, own)
  if (end.code === 0) return
  if (end.code === exitCodes.tooLarge) throw tooLarge(limits)
  if (end.code === exitCodes.tooManyEntries) throw tooManyEntries(limits)
  if (end.code === exitCodes.link) throw new AppError('INVALID_INPUT', 'The archive was not extracted: it holds links.')
  throw damaged(kind)
}

function caught(check: () => unknown): AppError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
