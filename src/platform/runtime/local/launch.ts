import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { errorCodeOf } from '../../errors'
import { DISK_FAILURES } from '../../share/fileFailure'
import { instanceOpenFiles } from '../../openFiles'

/** Network file systems answer in milliseconds, or not at all. */
const RESPONSE_TIMEOUT_MS = 5000

/**
 * Changes the directory in the new process. With the option `cwd`, `spawn` returns only after the new process has
 * changed its directory and loaded its program, so one directory that hangs would block every instance of the host.
 */
const LAUNCHER = 'ulimit -n "$1" && cd -- "$2" && unset OLDPWD && shift 2 && exec "$@"'

/**
 * Returns the arguments of `spawn` for a program with a limit of open files, in a directory that may hang. Call `spawn`
 * with `cwd: '/'`.
 * @param command program and arguments
 */
export function launchIn(directory: string, command: readonly string[]): [program: string, args: string[]] {
  return ['/bin/sh', ['-c', LAUNCHER, 'sh', String(instanceOpenFiles()), directory, ...command]]
}

/**
 * Finds out why a program would not start, because the launcher's exit code does not distinguish its own failure from
 * the program's.
 * @param program name or path, as in a definition
 * @param directory absolute path
 * @param path PATH of the program
 * @returns an error code as `spawn` has it; `ETIMEDOUT` if the directory does not answer; undefined if it should start
 */
export async function findStartFailure(
  program: string,
  directory: string,
  path: string,
): Promise<'ENOENT' | 'EACCES' | 'ETIMEDOUT' | undefined> {
  return Promise.race([
    checkFiles(program, directory, path),
    delay(RESPONSE_TIMEOUT_MS, 'ETIMEDOUT' as const, { ref: false }),
  ])
}

async function checkFiles(
  program: string,
  directory: string,
  path: string,
): Promise<'ENOENT' | 'EACCES' | 'ETIMEDOUT' | undefined> {
  const given = await stat(directory).catch(errorCodeOf)
  if (typeof given === 'string' && DISK_FAILURES.has(given)) return 'ETIMEDOUT'
  if (typeof given !== 'object' || !given.isDirectory()) return 'ENOENT'
  const folders = program.includes('/') ? ['.'] : path.split(delimiter)
  let isFound = false
  for (const folder of folders) {
    const file = resolve(directory, folder, program)
    const found = await stat(file).catch(() => undefined)
    if (!found) continue
    isFound = true
    const isExecutable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isExecutable && found.isFile()) return undefined
  }
  return isFound ? 'EACCES' : 'ENOENT'
}
