import type { Stats } from 'node:fs'
import { readlink, type FileHandle } from 'node:fs/promises'
import { join, relative } from 'node:path/posix'
import { AppError, errorCodeOf } from '../errors'
import { DEPTH_LIMIT, tooDeep } from './depth'
import { namesIn, openRegularFile, openSubdirectory, type HeldDirectory, type RawName } from './jail'
import type { LeftOut } from './leftOut'
import { lstatOf } from './placing'
import { isOwnName } from './ownNames'

export interface TreeEntry {
  /** Relative, beginning with the name of what is walked: `world/level.dat`. */
  path: string
  type: 'file' | 'directory' | 'link'
  stats: Stats
  /** Of a link: where it points, within the tree. */
  target?: string
  /** Of a file, until the next entry is asked for; undefined when it is gone or became something else. */
  open(): Promise<{ handle: FileHandle; stats: Stats } | undefined>
}

/**
 * A file, or a directory with all it holds, depth first. Every step is relative to a held directory and follows no link. Links that
 * stay within the tree are told as links; others, FIFOs, sockets and devices are left out, and so are unfinished files of the platform.
 * @param leftOut is told of directories that lie too deep, with all they hold.
 * @throws the signal's reason; without `leftOut` AppError CONFLICT where a directory lies too deep
 */
export async function* walkTree(
  directory: HeldDirectory,
  name: string,
  signal?: AbortSignal,
  leftOut?: LeftOut,
): AsyncGenerator<TreeEntry> {
  yield* walk(directory, name, name, 1, { signal, leftOut })
}

interface Walk {
  signal: AbortSignal | undefined
  leftOut: LeftOut | undefined
}

async function* walk(
  directory: HeldDirectory,
  name: RawName,
  path: string,
  level: number,
  context: Walk,
): AsyncGenerator<TreeEntry> {
  context.signal?.throwIfAborted()
  const stats = await lstatOf(directory, name)
  if (!stats) return
  const entry = { path, stats, open: () => openRegularFile(directory, name) }
  if (stats.isFile()) yield { ...entry, type: 'file' }
  else if (stats.isSymbolicLink()) {
    const target = await readlink(directory.entry(name)).catch(unlessChanged)
    if (target !== undefined && staysWithin(path, target)) yield { ...entry, type: 'link', target }
  } else if (stats.isDirectory()) {
    if (level > DEPTH_LIMIT) {
      if (!context.leftOut) throw new AppError('CONFLICT', tooDeep(path))
      context.leftOut.add(tooDeep(path))
      return
    }
    yield { ...entry, type: 'directory' }
    const below = await openSubdirectory(directory, name)
    if (!below) return
    try {
      for (const child of await namesIn(below)) {
        // Bytes that are no UTF-8 are from the time of Latin-1: left out they would be lost with what is deleted after it was archived.
        const text = typeof child === 'string' ? child : child.toString('latin1')
        if (!isOwnName(text)) yield* walk(below, child, `${path}/${text}`, level + 1, context)
      }
    } finally {
      await below.close()
    }
  }
}

/** What is gone by now, or something else (EINVAL: no link any more), is left out like what was never there. */
function unlessChanged(error: unknown): undefined {
  if (!['ENOENT', 'EINVAL'].includes(errorCodeOf(error) ?? '')) throw error
}

/** Relative, and not above the first directory of `path`. By its text: what it leads to is for who unpacks it to judge. */
function staysWithin(path: string, target: string): boolean {
  if (target.startsWith('/') || !path.includes('/')) return false
  const top = path.slice(0, path.indexOf('/'))
  const inside = relative(top, join(path, '..', target))
  return inside !== '..' && !inside.startsWith('../')
}

/** How much there is to pack. */
export async function measureTree(
  directory: HeldDirectory,
  name: string,
  signal?: AbortSignal,
): Promise<{ entries: number; /** Of files. */ bytes: number }> {
  let [entries, bytes] = [0, 0]
  for await (const { type, stats } of walkTree(directory, name, signal)) {
    entries += 1
    if (type === 'file') bytes += stats.size
  }
  return { entries, bytes }
}
