import { mkdir, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Languages but plpgsql, and what belongs to them. Whoever owns a database may create those that call themselves trusted. */
const LANGUAGES = /^(?:\w+_)?pl(?:perl|tcl|python3?)u?(?:--.*)?\./

/**
 * Makes the directory from which the embedded PostgreSQL takes its extensions (`extension_control_path`): all that the package
 * brings but the languages, so that no user's database runs programs in the server's process.
 * @returns the directory.
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
