import { AppError } from '../errors'
import { runArchiveProcess } from './archiveProcess'
import { badEntry, damaged, partsOf, tooLarge, tooManyEntries, type ExtractionLimits } from './extraction'
import type { HeldDirectory } from './jail'
import type { JobControl } from './jobs'
import { exitCodes } from './sevenZipExits'

/** What reading an archive may take: dictionaries can be made to want gigabytes. In bytes. */
const MEMORY = 2 ** 30
/** Listings say little about an entry in more than this. In bytes. */
const LISTING_LIMIT = 256 * 2 ** 20

/**
 * Extracts a `.7z` or `.rar` into an empty directory, by 7-Zip in a process of its own with limits on memory, size and entries.
 * @throws AppError INVALID_INPUT (damaged, encrypted, links, a name that leads out), TOO_LARGE
 */
export async function unpackSevenZip(from: HeldDirectory, name: string, to: HeldDirectory, limits: ExtractionLimits, control: JobControl): Promise<void> {
  const kind = name.toLowerCase().endsWith('.rar') ? 'rar' : '7z'
  const { size } = await list(from, name, to, kind, limits, control.signal)
  control.progress({ total: size })
  await run('extract', from, name, to, limits, control.signal, kind, (line) => {
    const { size: done, entry } = JSON.parse(line) as { size: number; entry: string }
    control.progress({ done, entry })
  })
}

/** Every name is judged before the first byte is written. */
async function list(from: HeldDirectory, name: string, to: HeldDirectory, kind: string, limits: ExtractionLimits, signal: AbortSignal): Promise<{ size: number }> {
  let [size, entries, path, read] = [0, 0, '', 0]
  let wrong: AppError | undefined
  await run('list', from, name, to, limits, signal, kind, (line) => {
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

/** @param onLine may answer false: then nothing more is wanted. */
async function run(
  mode: 'list' | 'extract',
  from: HeldDirectory,
  name: string,
  to: HeldDirectory,
  limits: ExtractionLimits,
  signal: AbortSignal,
  kind: string,
  onLine: (line: string) => boolean | void,
): Promise<void> {
  const end = await runArchiveProcess({
    program: 'share/sevenZipMain', args: [mode, name, JSON.stringify(limits)], descriptors: [from.fd, to.fd], name, signal, memory: MEMORY, onLine,
  })
  if (end === 'enough') return
  if (end === 'memory') throw new AppError('TOO_LARGE', `The archive was not extracted: unpacking it takes more than ${MEMORY / 2 ** 20} MiB of memory.`)
  if (typeof end === 'string') throw damaged(kind)
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
