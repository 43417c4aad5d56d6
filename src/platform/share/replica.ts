import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readlink, realpath, rename, rm, symlink, utimes } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { holding, namesIn, openRealDirectory, openRegularFile, openSubdirectory, type HeldDirectory, type RawName } from './jail'
import { isOwnName, ownName } from './ownNames'
import { lstatOf } from './placing'

/** Setting a modification time keeps it to a microsecond or so, and not every file system even that. */
const isSameFile = (one: Stats, other: Stats) => one.isFile() && other.isFile() && one.size === other.size && one.mode === other.mode && Math.abs(one.mtimeMs - other.mtimeMs) < 1

/**
 * Makes `target` like `source`: copies what changed (by size and modification time), removes what is gone. Each file is
 * replaced at once, so that a reader, or a crash, sees the old one or the new one. Links that stay within `source` are
 * kept, others and special files are left out. Every step on the source is from a held directory and follows no link: what is
 * swapped for a link meanwhile is not copied.
 * @param source a real path. @param target the platform's own.
 * @returns how many entries were copied or removed.
 * @throws the signal's reason when it is aborted (what is done by then stays); AppError CONFLICT when `source` leads elsewhere by now
 */
export async function replicate(source: string, target: string, signal?: AbortSignal): Promise<number> {
  return holding(openRealDirectory(source), async (root) => {
    await mkdir(target, { recursive: true })
    return replicateDirectory(root.realPath, root, Buffer.from(target), signal)
  })
}

async function replicateDirectory(root: string, from: HeldDirectory, to: Buffer, signal: AbortSignal | undefined): Promise<number> {
  const [names, known] = await Promise.all([namesIn(from), readdir(to, { encoding: 'buffer' })])
  let changes = 0
  const kept = new Set<string>()
  for (const name of names) {
    signal?.throwIfAborted()
    // An upload or an archive in the making.
    if (typeof name === 'string' && isOwnName(name)) continue
    const target = below(to, name)
    const [stats, there] = await Promise.all([lstatOf(from, name), lstat(target).catch(() => undefined)])
    if (stats?.isDirectory()) {
      const directory = await openSubdirectory(from, name)
      if (!directory) continue
      if (there && !there.isDirectory()) await rm(target, { force: true })
      await mkdir(target, { recursive: true })
      changes += await holding(Promise.resolve(directory), () => replicateDirectory(root, directory, target, signal))
    } else if (stats?.isFile()) {
      changes += await replicateFile(from, name, to, there)
    } else if (stats?.isSymbolicLink() && (await staysWithin(root, from, name))) {
      changes += await replicateLink(from, name, target, there)
    } else continue
    kept.add(keyOf(name))
  }
  for (const name of known) {
    if (kept.has(keyOf(name))) continue
    await rm(below(to, name), { recursive: true, force: true })
    changes += 1
  }
  return changes
}

const below = (directory: Buffer, name: RawName): Buffer => Buffer.concat([directory, Buffer.from('/'), Buffer.from(name)])
const keyOf = (name: RawName): string => Buffer.from(name).toString('latin1')

async function replicateFile(from: HeldDirectory, name: RawName, to: Buffer, there: Stats | undefined): Promise<number> {
  const opened = await openRegularFile(from, name)
  if (!opened) return 0
  const { handle, stats } = opened
  try {
    if (there && isSameFile(stats, there)) return 0
    const target = below(to, name)
    if (there && !there.isFile()) await rm(target, { recursive: true, force: true })
    const unfinished = below(to, ownName(randomUUID()))
    try {
      // By its descriptor, so that what was checked is what is copied; a clone where the file system has them.
      await copyFile(`/proc/self/fd/${handle.fd}`, unfinished, constants.COPYFILE_FICLONE)
      // As numbers: there are times that no Date can be.
      await utimes(unfinished, stats.atimeMs / 1000, stats.mtimeMs / 1000)
      await rename(unfinished, target)
    } finally {
      await rm(unfinished, { force: true })
    }
    return 1
  } finally {
    await handle.close()
  }
}

async function replicateLink(from: HeldDirectory, name: RawName, target: Buffer, there: Stats | undefined): Promise<number> {
  const points = await readlink(from.entry(name), { encoding: 'buffer' })
  if (there?.isSymbolicLink() && points.equals(await readlink(target, { encoding: 'buffer' }))) return 0
  await rm(target, { recursive: true, force: true })
  await symlink(points, target)
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
