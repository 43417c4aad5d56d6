import { mkdir, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Procedural languages except plpgsql, and their parts. A database's owner may create trusted extensions. */
const LANGUAGES = /^(?:\w+_)?pl(?:perl|tcl|python3?)u?(?:--.*)?\./

/**
 * Creates the directory of the embedded PostgreSQL's extensions (`extension_control_path`). It excludes languages, so
 * that no user's database runs programs in the server's process.
 * @returns the directory
 */
export async function makeExtensions(dataDir: string, shareDir: string): Promise<string> {
  const directory = join(dataDir, 'postgres.extensions')
  const shipped = join(shareDir, 'extension')
  await rm(directory, { recursive: true, force: true })
  await mkdir(join(directory, 'extension'), { recursive: true, mode: 0o755 })
  for (const file of await readdir(shipped)) {
    if (!LANGUAGES.test(file)) await symlink(join(shipped, file), join(directory, 'extension', file))
  }
  return directory
}
