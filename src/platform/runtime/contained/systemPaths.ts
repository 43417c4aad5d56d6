import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { realPathThrough } from '../../share/followLinks'

/** Directories with the system's programs (decisions §12). */
const PROGRAM_DIRECTORIES = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix/store']

/** Entries of /etc that programs need, such as linker, name resolution, certificates, fonts. None is secret. */
const CONFIGURATION = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'debian_version',
  'fonts',
  'gai.conf',
  'host.conf',
  'hosts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'magic',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'pki',
  'protocols',
  'resolv.conf',
  'services',
  'ssl',
  'terminfo',
  'timezone',
]
const CONFIGURATION_PREFIXES = ['java', 'python']
const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Programs of the host that instances can see. */
export interface SystemPaths {
  /** Read-only directories and files, with the same path inside and outside. */
  readable: string[]
  /** PATH of instances. */
  path: string
}

/**
 * Finds the programs that instances may use: the system's, the installations of the platform's Node.js and of `java` on
 * its PATH, and the paths of QUARTERDECK_PROGRAMS.
 * @param programs absolute paths. @param etc names in /etc. @param environmentPath PATH of the platform.
 */
export function findSystemPaths(programs: string[], etc: string[], environmentPath: string): SystemPaths {
  const system = PROGRAM_DIRECTORIES.filter((path) => existsSync(path))
  const installations = [installationOf(process.execPath), installationOf(findOnPath('java', environmentPath))].filter(
    (path) => path !== undefined,
  )
  const others = [...installations, ...programs.filter((path) => existsSync(path))]
  const readable = [...system]
  for (const path of others) if (!readable.some((known) => isWithin(path, known))) readable.push(path)
  const configuration = etc.filter(
    (name) => CONFIGURATION.includes(name) || CONFIGURATION_PREFIXES.some((prefix) => name.startsWith(prefix)),
  )
  const binaries = others
    .flatMap((path) => [join(path, 'bin'), path])
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory())
  return {
    readable: [...readable, ...configuration.map((name) => join('/etc', name)).filter((path) => existsSync(path))],
    path: [...new Set([...binaries, ...SYSTEM_PATH])].join(':'),
  }
}

/** `/opt/node-20` for `/opt/node-20/bin/node`; without `bin`, the directory of the program. */
function installationOf(program: string | undefined): string | undefined {
  if (program === undefined) return undefined
  const directory = dirname(realpathSync(program))
  return basename(directory) === 'bin' ? dirname(directory) : directory
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`)
}

function findOnPath(program: string, path: string, within = ''): string | undefined {
  return path
    .split(':')
    .filter(isAbsolute)
    .map((directory) => join(within, directory, program))
    .find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

export type ProgramCheck = 'found' | 'missing' | 'not executable' | { outside: string }

/**
 * Checks from outside the container whether an instance can start a program. Does not block the platform while it reads
 * the directory, because the shared area may hang.
 * @param program as in its definition. @param directory its working directory on the host. @param path its PATH.
 */
export async function checkProgram(
  program: string,
  directory: string,
  path: string,
  { readable }: SystemPaths,
): Promise<ProgramCheck> {
  const isReadable = (file: string) => readable.some((known) => isWithin(file, known))
  if (!program.includes('/')) {
    const found = path
      .split(':')
      .filter(isAbsolute)
      .map((folder) => join(folder, program))
      .find((file) => isReadable(file) && isProgram(file))
    if (found !== undefined) return 'found'
    const outside = findOnPath(program, process.env.PATH ?? '')
    return outside !== undefined && !isReadable(outside) && !isReadable(realpathSync(outside)) ? { outside } : 'missing'
  }
  const inside = resolve(WORKING_DIRECTORY, program)
  if (!isWithin(inside, WORKING_DIRECTORY)) {
    // The response is the same whether it exists or not. Otherwise users could look for any file of this machine.
    if (!isReadable(inside)) return { outside: inside }
    if (!existsSync(inside)) return 'missing'
    return isProgram(inside) ? 'found' : 'not executable'
  }
  const file = inside.slice(WORKING_DIRECTORY.length)
  // A link of an instance may lead anywhere, so it is followed only inside the container's paths.
  const real = await realpath(directory)
  const target = await realPathThrough(
    directory,
    file,
    (path) =>
      isWithin(path, real) || isReadable(path) || path === '/' || readable.some((known) => isWithin(known, path)),
  )
  if (target === undefined || (!isWithin(target, real) && !isReadable(target))) return 'missing'
  const isExecutable = await access(target, constants.X_OK).then(
    () => true,
    () => false,
  )
  return isExecutable && (await stat(target)).isFile() ? 'found' : 'not executable'
}

/** Path of an instance's files inside its container, as in a Pod (decisions §15). */
export const WORKING_DIRECTORY = '/data'
