import { mkdir, symlink, unlink } from 'node:fs/promises'
import { join, normalize } from 'node:path/posix'
import { Readable } from 'node:stream'
import { AppError, errorCodeOf } from '../errors'
import { DEPTH_LIMIT, shortened } from './depth'
import { openSubdirectory, type HeldDirectory } from './jail'
import { createFile } from './removal'
import { writeStream } from './streams'
import { isOwnName } from './ownNames'

/** What an archive may become. */
export interface ExtractionLimits {
  /** Files, directories and links; directories also where only the paths of other entries name them. */
  entries: number
  /** In bytes. */
  size: number
}

/** Archives of this many bytes or fewer may become so large whatever they are. */
const SIZE_FLOOR = 256 * 2 ** 20
/** How many times its own size an archive may become. */
const RATIO = 200
const NAME_BYTES = 255
/** Directories that are held open at a time. */
const HELD = 64

/** @param archiveSize in bytes. */
export function limitsFor(archiveSize: number): ExtractionLimits {
  return { entries: 500_000, size: Math.max(SIZE_FLOOR, archiveSize * RATIO) }
}

/**
 * Puts entries of an archive into an empty directory, and nowhere else: names that could mean another place are refused with the
 * whole archive, links are made last, so that nothing is written through one.
 */
export interface Extraction {
  directory(path: string): Promise<void>
  /** @throws AppError TOO_LARGE beyond the limits */
  file(path: string, content: Readable, attributes: { mode?: number; mtime?: Date }): Promise<void>
  /** @throws AppError INVALID_INPUT when it would lead out of the directory */
  link(path: string, target: string): void
  /** Makes the links, and closes what is held. */
  finish(): Promise<void>
  close(): Promise<void>
}

/** @param root empty, and held until it is closed. */
export function createExtraction(root: HeldDirectory, limits: ExtractionLimits): Extraction {
  const held = new Map<string, HeldDirectory>()
  const links = new Map<string, string>()
  let entries = 0
  let size = 0

  function count(): void {
    entries += 1
    if (entries > limits.entries) throw tooManyEntries(limits)
  }

  async function hold(parts: string[]): Promise<HeldDirectory> {
    if (parts.length === 0) return root
    const path = parts.join('/')
    if (parts.length > DEPTH_LIMIT) throw tooDeepEntry(path)
    const known = held.get(path)
    if (known) return known
    if (links.has(path)) throw badEntry(path, 'lies behind a link')
    const above = await hold(parts.slice(0, -1))
    const name = parts.at(-1) ?? ''
    // Also those that no entry names: a few entries of deep paths could make any number of them.
    const isNew = await mkdir(above.entry(name), { mode: 0o755 }).then(() => true, ignoreExisting)
    if (isNew) count()
    const directory = await openSubdirectory(above, name)
    if (!directory) throw badEntry(path, 'is a file and a directory')
    held.set(path, directory)
    return directory
  }

  async function close(): Promise<void> {
    const directories = [...held.values()]
    held.clear()
    for (const directory of directories) await directory.close()
  }

  /** What comes out is counted: headers may claim anything. */
  async function* measured(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      size += chunk.length
      if (size > limits.size) throw tooLarge(limits)
      yield chunk
    }
  }

  return {
    async directory(path) {
      if (held.size > HELD) await close()
      const before = entries
      await hold(partsOf(path))
      // Counted as what it made; one that is there already counts as well.
      if (entries === before) count()
    },

    async file(path, content, { mode = 0o644, mtime }) {
      count()
      const parts = partsOf(path)
      const name = parts.at(-1)
      if (name === undefined) throw badEntry(path, 'has no name')
      if (held.size > HELD) await close()
      const directory = await hold(parts.slice(0, -1))
      if (links.has(parts.join('/'))) throw badEntry(path, 'is a link and a file')
      const rights = mode & 0o111 ? 0o755 : 0o644
      // An archive may hold a name twice: the later one counts.
      const handle = await createFile(directory, name, rights).catch(async (error: unknown) => {
        if (errorCodeOf(error) !== 'EEXIST') throw error
        await unlink(directory.entry(name)).catch(() => {
          throw badEntry(path, 'is a file and a directory')
        })
        return createFile(directory, name, rights)
      })
      try {
        await writeStream(Readable.from(measured(content)), handle)
        if (mtime && Number.isFinite(mtime.getTime())) await handle.utimes(mtime, mtime)
      } finally {
        await handle.close()
      }
    },

    link(path, target) {
      count()
      const parts = partsOf(path)
      const leads = normalize(join(...parts.slice(0, -1), target))
      if (
        parts.length === 0 ||
        target === '' ||
        target.startsWith('/') ||
        target.includes('\0') ||
        leads === '..' ||
        leads.startsWith('../') ||
        climbsLate(target)
      ) {
        throw badEntry(path, 'is a link that leads out of the archive')
      }
      if (held.has(parts.join('/'))) throw badEntry(path, 'is a directory and a link')
      links.set(parts.join('/'), target)
    },

    async finish() {
      for (const [path, target] of links) {
        const parts = path.split('/')
        const directory = await hold(parts.slice(0, -1))
        await symlink(target, directory.entry(parts.at(-1) ?? '')).catch(() => {
          throw badEntry(path, 'is a link and something else')
        })
      }
      await close()
    },
    close,
  }
}

/** Whether a target goes up after it went down: what it went down may be a link, and up from there is not where the text says. */
function climbsLate(target: string): boolean {
  const steps = target.split('/').filter((step) => step !== '' && step !== '.')
  const down = steps.findIndex((step) => step !== '..')
  return down !== -1 && steps.includes('..', down)
}

/** The names of an entry's path. @throws AppError INVALID_INPUT for one that is not plainly within the archive */
export function partsOf(path: string): string[] {
  if (path.startsWith('/') || path.includes('\\') || /^[a-z]:/i.test(path))
    throw badEntry(path, 'is not a relative path')
  if (path.includes('\0')) throw badEntry(path, 'holds a NUL character')
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw badEntry(path, 'leads out of the archive')
  // A file may lie in the deepest directory.
  if (parts.length > DEPTH_LIMIT + 1) throw tooDeepEntry(path)
  if (parts.some((part) => Buffer.byteLength(part) > NAME_BYTES)) throw badEntry(path, 'is too long')
  if (parts.some(isOwnName)) throw badEntry(path, 'has a name that the platform keeps for itself')
  return parts
}

/** Why the whole archive is refused. @param reason goes on after the entry's name. */
export function badEntry(path: string, reason: string): AppError {
  return new AppError('INVALID_INPUT', `The archive was not extracted: its entry "${shortened(path)}" ${reason}.`)
}

const tooDeepEntry = (path: string) => badEntry(path, `lies more than ${DEPTH_LIMIT} directories deep`)

/** AppError TOO_LARGE, by size. */
export function tooLarge({ size }: ExtractionLimits): AppError {
  return new AppError(
    'TOO_LARGE',
    `The archive was not extracted: it would become larger than ${Math.round(size / 2 ** 20)} MiB, ${RATIO} times its size.`,
  )
}

/** AppError TOO_LARGE, by number. */
export function tooManyEntries({ entries }: ExtractionLimits): AppError {
  return new AppError('TOO_LARGE', `The archive was not extracted: it holds more than ${entries} entries.`)
}

/** @param kind what it should be, for people. */
export function damaged(kind: string): AppError {
  return new AppError('INVALID_INPUT', `The archive was not extracted: it is damaged, or it is not a ${kind} file.`)
}

function ignoreExisting(error: unknown): false {
  if (errorCodeOf(error) !== 'EEXIST') throw error
  return false
}
