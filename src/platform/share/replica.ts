import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import {
  copyFile,
  mkdir,
  open,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  utimes,
  type FileHandle,
} from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { AppError } from '../errors'
import { DEPTH_LIMIT, tooDeep } from './depth'
import {
  holding,
  namesIn,
  openRealDirectory,
  openRegularFile,
  openSubdirectory,
  type HeldDirectory,
  type RawName,
} from './jail'
import { createLeftOut, type LeftOut } from './leftOut'
import { isOwnName, ownName } from './ownNames'
import { lstatOf } from './placing'
import { removeTree } from './removal'
import { copyWithHoles, HOLES_LIMIT, holesOf, tooManyHoles } from './sparse'

/** A file with so many holes is copied with them. In bytes. */
const MANY_HOLES = 2 ** 20

/** Setting a modification time keeps it to a microsecond or so, and not every file system even that. */
const isSameFile = (one: Stats, other: Stats) =>
  one.isFile() &&
  other.isFile() &&
  one.size === other.size &&
  one.mode === other.mode &&
  Math.abs(one.mtimeMs - other.mtimeMs) < 1

interface ReplicateOptions {
  signal?: AbortSignal | undefined
  /** Is told of what is not copied: directories that lie too deep, files with too many holes. */
  leftOut?: LeftOut | undefined
  /** Called for each directory of the source before its names are read. @param path relative to the source: empty, or with a slash at its end */
  onDirectory?: (directory: HeldDirectory, path: string) => Promise<void>
}

/**
 * Makes `target` like `source`: copies what changed (by size and modification time), removes what is gone. Each file is
 * replaced at once, so that a reader, or a crash, sees the old one or the new one. Links that stay within `source` are
 * kept, others and special files are left out. Every step is from held directories and follows no link: what is swapped for a
 * link meanwhile is not copied.
 * @param source a real path. @param target the platform's own.
 * @returns how many entries were copied or removed.
 * @throws the signal's reason when it is aborted (what is done by then stays); AppError CONFLICT when `source` leads elsewhere by now
 */
export async function replicate(
  source: string,
  target: string,
  { signal, leftOut = createLeftOut(), onDirectory }: ReplicateOptions = {},
): Promise<number> {
  return holding(openRealDirectory(source), async (root) => {
    await mkdir(target, { recursive: true })
    const context = { root: root.realPath, signal, leftOut, onDirectory, holes: 0 }
    return holding(openRealDirectory(await realpath(target)), (to) => replicateDirectory(root, to, '', 1, context))
  })
}

interface Replication extends Pick<ReplicateOptions, 'onDirectory'> {
  /** Real path of the source. */
  root: string
  signal: AbortSignal | undefined
  leftOut: LeftOut
  /** Of the files that were copied so far. In bytes. */
  holes: number
}

/** @param path of the directory, relative to the source: empty, or with a slash at its end. @param level of its entries, from 1 */
async function replicateDirectory(
  from: HeldDirectory,
  to: HeldDirectory,
  path: string,
  level: number,
  context: Replication,
): Promise<number> {
  await context.onDirectory?.(from, path)
  const [names, known] = await Promise.all([namesIn(from), namesIn(to)])
  let changes = 0
  const kept = new Set<string>()
  for (const name of names) {
    context.signal?.throwIfAborted()
    // An upload or an archive in the making.
    if (typeof name === 'string' && isOwnName(name)) continue
    const [stats, there] = await Promise.all([lstatOf(from, name), lstatOf(to, name)])
    if (stats?.isDirectory()) {
      const pathOfEntry = `${path}${String(name)}`
      if (level > DEPTH_LIMIT) {
        context.leftOut.add(tooDeep(pathOfEntry))
        continue
      }
      const below = await openSubdirectory(from, name)
      if (!below) continue
      changes += await holding(Promise.resolve(below), (source) =>
        holding(ensureDirectory(to, name, there), (target) =>
          replicateDirectory(source, target, `${pathOfEntry}/`, level + 1, context),
        ),
      )
    } else if (stats?.isFile()) {
      // Most files have not changed: they need not be opened.
      if (!there || !isSameFile(stats, there)) {
        const copied = await replicateFile(from, name, to, there, path, context)
        if (copied === 'left out') continue
        changes += copied
      }
    } else if (stats?.isSymbolicLink() && (await staysWithin(context.root, from, name))) {
      changes += await replicateLink(from, name, to, there)
    } else continue
    kept.add(keyOf(name))
  }
  for (const name of known) {
    if (kept.has(keyOf(name))) continue
    context.signal?.throwIfAborted()
    await removeTree(to, name, context.signal)
    changes += 1
  }
  return changes
}

const keyOf = (name: RawName): string => Buffer.from(name).toString('latin1')

async function ensureDirectory(to: HeldDirectory, name: RawName, there: Stats | undefined): Promise<HeldDirectory> {
  if (there && !there.isDirectory()) await removeTree(to, name)
  if (!there?.isDirectory()) await mkdir(to.entry(name))
  const opened = await openSubdirectory(to, name)
  if (!opened)
    throw new AppError('CONFLICT', `In the place of the directory "${String(name)}" there is something else.`)
  return opened
}

async function replicateFile(
  from: HeldDirectory,
  name: RawName,
  to: HeldDirectory,
  there: Stats | undefined,
  path: string,
  context: Replication,
): Promise<number | 'left out'> {
  const opened = await openRegularFile(from, name)
  if (!opened) return 0
  const { handle, stats } = opened
  try {
    const holes = holesOf(stats)
    if (context.holes + holes > HOLES_LIMIT) {
      context.leftOut.add(tooManyHoles(`${path}${String(name)}`, stats))
      return 'left out'
    }
    context.holes += holes
    if (there && !there.isFile()) await removeTree(to, name)
    const unfinished = to.entry(ownName(randomUUID()))
    try {
      // By its descriptor, so that what was checked is what is copied; a clone where the file system has them.
      const source = `/proc/self/fd/${handle.fd}`
      if (holes < MANY_HOLES) await copyFile(source, unfinished, constants.COPYFILE_FICLONE)
      else
        await copyFile(source, unfinished, constants.COPYFILE_FICLONE_FORCE).catch(() =>
          copyHoled(handle, stats, unfinished),
        )
      // As numbers: there are times that no Date can be.
      await utimes(unfinished, stats.atimeMs / 1000, stats.mtimeMs / 1000)
      await rename(unfinished, to.entry(name))
    } finally {
      await rm(unfinished, { force: true })
    }
    return 1
  } finally {
    await handle.close()
  }
}

/** The copy of libuv would fill the holes with zeros. */
async function copyHoled(from: FileHandle, { size, mode }: Stats, target: string): Promise<void> {
  const made = await open(
    target,
    constants.O_CREAT | constants.O_TRUNC | constants.O_WRONLY | constants.O_NOFOLLOW,
    mode & 0o7777,
  )
  try {
    await copyWithHoles(from, size, made)
    await made.chmod(mode & 0o7777)
  } finally {
    await made.close()
  }
}

async function replicateLink(
  from: HeldDirectory,
  name: RawName,
  to: HeldDirectory,
  there: Stats | undefined,
): Promise<number> {
  const points = await readlink(from.entry(name), { encoding: 'buffer' })
  if (there?.isSymbolicLink() && points.equals(await readlink(to.entry(name), { encoding: 'buffer' }))) return 0
  await removeTree(to, name)
  await symlink(points, to.entry(name))
  return 1
}

/** Relative links only: an absolute one would lead from the copy back into the original. */
async function staysWithin(root: string, from: HeldDirectory, name: RawName): Promise<boolean> {
  try {
    if (isAbsolute(await readlink(from.entry(name)))) return false
    const path = relative(root, await realpath(from.entry(name)))
    return path !== '..' && !path.startsWith(`..${sep}`)
  } catch {
    return false
  }
}
