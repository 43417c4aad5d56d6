import { lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface LocalFile {
  path: string
  name: string
}

/** A directory with its own files. Its subdirectories follow later. */
export interface LocalDirectory {
  /** Names below the top; empty for the top itself. */
  segments: string[]
  files: LocalFile[]
}

/**
 * Reads a directory, one level at a time. @param skip called for entries that are neither file nor directory, such as
 * links
 */
export async function* walkLocal(
  top: string,
  skip: (path: string) => void,
  segments: string[] = [],
): AsyncGenerator<LocalDirectory> {
  const entries = await readdir(join(top, ...segments), { withFileTypes: true })
  const files: LocalFile[] = []
  const directories: string[] = []
  for (const entry of entries) {
    const path = join(top, ...segments, entry.name)
    if (entry.isFile()) files.push({ path, name: entry.name })
    else if (entry.isDirectory()) directories.push(entry.name)
    else skip(path)
  }
  yield { segments, files }
  for (const name of directories) yield* walkLocal(top, skip, [...segments, name])
}

export async function isLocalDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
}

export async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  )
}
