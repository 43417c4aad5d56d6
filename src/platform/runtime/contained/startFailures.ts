import { stat } from 'node:fs/promises'
import { AppError, errorCodeOf } from '../../errors'
import type { OpenDirectory } from '../../share/jail'
import { isTemporaryError, startFailureMessage } from '../exitMessages'
import type { RunFailure } from './containerExit'
import { checkProgram, type SystemPaths } from './systemPaths'

/** A failed start with a message for users, shown in the console and in Details. */
export class StartFailure extends Error {}

/** As `checkProgram`. @throws StartFailure if the program cannot be started */
export async function requireProgram(
  program: string,
  directory: string,
  path: string,
  system: SystemPaths,
): Promise<void> {
  const check = await checkProgram(program, directory, path, system)
  if (check === 'missing') throw new StartFailure(startFailureMessage('ENOENT', program))
  if (check === 'not executable') throw new StartFailure(startFailureMessage('EACCES', program))
  if (check !== 'found')
    throw new StartFailure(
      `Could not be started: "${program}" is ${check.outside}, which instances cannot access. Add its directory to QUARTERDECK_PROGRAMS.`,
    )
}

/**
 * Compares the mounted directory with the checked one: runc resolves the path again, and another instance may have
 * swapped a name in it for a link. Checked from outside before the program runs, because inside, PATH and LD_PRELOAD of
 * the definition control every program.
 * @param pid that of the container's first process, before `start`
 * @param target path of the directory in the container
 * @throws StartFailure if it is another directory
 */
export async function checkMount(pid: number, source: OpenDirectory, target: string): Promise<void> {
  const [wanted, mounted] = await Promise.all([source.stats(), stat(`/proc/${pid}/root${target}`, { bigint: true })])
  if (wanted.dev === mounted.dev && wanted.ino === mounted.ino) return
  throw new StartFailure(`Not started: ${target} was replaced by another directory during the start.`)
}

/** How runc fails when its own first process takes more memory than the container may use. */
const TOO_SMALL = /unable to set memory limit|memory limit too low/

/** The message for users about a failed start, and whether it is temporary (see `InstanceExit`). */
export function startFailureOf(error: unknown): RunFailure {
  if (error instanceof StartFailure) return { failure: error.message, isTemporary: false }
  if (error instanceof AppError)
    return { failure: `Could not be started: ${error.message}`, isTemporary: isTemporaryError(error) }
  const code = errorCodeOf(error)
  if (code === 'ENOENT' && !isOfSpawn(error))
    return {
      failure: 'Could not be started: its directory, or one that it mounts, does not exist.',
      isTemporary: false,
    }
  if (TOO_SMALL.test(String(error)))
    return {
      failure: 'Could not be started: its memory limit (resources.memory) is too small for any program.',
      isTemporary: false,
    }
  return { failure: machineFailure(code), isTemporary: true }
}

/** Whether a program of the container runtime could not be started. ENOENT then means that it is missing. */
const isOfSpawn = (error: unknown) => (error as NodeJS.ErrnoException).syscall?.startsWith('spawn') ?? false

/** What is not the fault of a definition is one of the machine: runc and conmon get what was checked before. */
function machineFailure(code: string | undefined): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'Could not be started: the disk of the data directory is full.'
  if (code === 'EMFILE' || code === 'ENFILE' || code === 'EAGAIN' || code === 'ENOMEM')
    return startFailureMessage(code, '')
  return 'Could not be started: its container could not be created. See the platform’s log for the reason.'
}
