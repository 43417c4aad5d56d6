import { constants, type Stats } from 'node:fs'
import { copyFile, lstat, mkdir, open, readdir, readlink, realpath, rename, rm, symlink, utimes } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { errorCodeOf } from '../errors'

/** Setting a modification time keeps it to a microsecond or so, and not every file system even that. */
const isSameFile = (one: Stats, other: Stats) => one.isFile() && other.isFile() && one.size === other.size && one.mode === other.mode && Math.abs(one.mtimeMs - other.mtimeMs) < 1

/**
 * Makes `target` like `source`: copies what changed (by size and modification time), removes what is gone. Each file is
 * replaced at once, so that a reader, or a crash, sees the old one or the new one. Links that stay within `source` are
 * kept, others and special files are left out.
 * @returns how many entries were copied or removed.
 * @throws the signal's reason when it is aborted; what is done by then stays.
 */
export async function replicate(source: string, target: string, signal?: AbortSignal): Promise<number> {
  const root = await realpath(source)
  await mkdir(target, { recursive: true })
  return replicateDirectory(root, root, target, signal)
}

async function replicateDirectory(root: string, from: string, to: string, signal: AbortSignal | undefined): Promise<number> {
  const [entries, known] = await Promise.all([readdir(from, { withFileTypes: true }), readdir(to)])
  let changes = 0
  const kept = new Set<string>()
  for (const entry of entries) {
    signal?.throwIfAborted()
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    const there = await lstat(target).catch(() => undefined)
    if (entry.isDirectory()) {
      if (there && !there.isDirectory()) await rm(target, { force: true })
      await mkdir(target, { recursive: true })
      changes += await replicateDirectory(root, source, target, signal)
    } else if (entry.isFile()) {
      changes += await replicateFile(source, target, there)
    } else if (entry.isSymbolicLink() && (await staysWithin(root, source))) {
      changes += await replicateLink(source, target, there)
    } else continue
    kept.add(entry.name)
  }
  for (const name of known) {
    if (kept.has(name)) continue
    await rm(join(to, name), { recursive: true, force: true })
    changes += 1
  }
  return changes
}

async function replicateFile(source: string, target: string, there: Stats | undefined): Promise<number> {
  // Not followed when it became a link since it was listed.
  const file = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: unknown) => {
    if (['ENOENT', 'ELOOP', 'ENXIO'].includes(errorCodeOf(error) ?? '')) return undefined
    throw error
  })
  if (!file) return 0
  try {
    const stats = await file.stat()
    if (!stats.isFile() || (there && isSameFile(stats, there))) return 0
    if (there && !there.isFile()) await rm(target, { recursive: true, force: true })
    const unfinished = join(dirname(target), `.quarterdeck-${process.pid}-${Date.now()}`)
    try {
      // By its descriptor, so that what was checked is what is copied; a clone where the file system has them.
      await copyFile(process.platform === 'linux' ? `/proc/self/fd/${file.fd}` : source, unfinished, constants.COPYFILE_FICLONE)
      await utimes(unfinished, stats.atime, stats.mtime)
      await rename(unfinished, target)
    } finally {
      await rm(unfinished, { force: true })
    }
    return 1
  } finally {
    await file.close()
  }
}

async function replicateLink(source: string, target: string, there: Stats | undefined): Promise<number> {
  const points = await readlink(source)
  if (there?.isSymbolicLink() && (await readlink(target)) === points) return 0
  await rm(target, { recursive: true, force: true })
  await symlink(points, target)
  return 1
}

/** Relative links only: an absolute one would lead from the copy back into the original. */
async function staysWithin(root: string, link: string): Promise<boolean> {
  try {
    if (isAbsolute(await readlink(link))) return false
    const path = relative(root, await realpath(link))
    return path !== '..' && !path.startsWith(`..${sep}`)
  } catch {
    return false
  }
}
