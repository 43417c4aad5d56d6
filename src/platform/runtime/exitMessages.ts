import { AppError, errorCodeOf } from '../errors'
import { DISK_FAILURES } from '../share/fileFailure'
import { PROCESS_SCOPE } from '../processLock'
import type { InstanceExit } from './runtime'

/** Grace period between SIGTERM and SIGKILL (decisions §5). */
export const KILL_AFTER_MS = 10_000

/** The console message for the end of a run. */
export function describeExit({ code, signal, requested, failure, interruption }: InstanceExit): string {
  if (failure) return failure
  if (interruption !== undefined) return interruption
  const how = signal ? `by signal ${signal}` : `with exit code ${code}`
  return requested ? `Stopped (${how}).` : `Ended by itself ${how}.`
}

/**
 * `InstanceExit.interruption` of a run that ended with all processes of its machine, or of the container that the
 * platform runs in; an orderly shutdown may have recorded an exit code.
 */
export const RESTARTED = 'Ended before the machine or the platform’s container was started again.'

/** Whether the machine, or the platform's container, was started again since a run began. @param scope of its record */
export const hasRestarted = (scope: string | undefined): boolean => scope !== undefined && scope !== PROCESS_SCOPE

/** The console message for a start that the cluster refuses. @param reason of the cluster, as text */
export const clusterStartFailure = (reason: string) => `Could not be started: ${reason.replace(/\.?$/, '.')}`

/** `InstanceExit.failure` of a run that was stopped while it was being started. */
export const STOPPED_BEFORE = 'Stopped before it was started.'

/** Codes of Node.js' errors for what a machine lacks for a while: processes, memory, descriptors, disk space. */
const TEMPORARY_CODES = ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT']

/** Whether a start failed for a reason that lies with the machine and passes. @param code of Node.js' error */
export const isTemporaryCode = (code: string | undefined): boolean =>
  TEMPORARY_CODES.includes(code ?? '') || DISK_FAILURES.has(code)

/** As `isTemporaryCode`, also for errors of the shared area. */
export const isTemporaryError = (error: unknown): boolean =>
  error instanceof AppError
    ? error.code === 'UNAVAILABLE' || error.code === 'DISK_FULL'
    : isTemporaryCode(errorCodeOf(error))

/** As `isTemporaryError`, for the copy of an instance's files: also what may not be read may be mended at any time. */
export const isTemporaryCopyError = (error: unknown): boolean => error instanceof AppError || isTemporaryError(error)

/** The console message for a failed start. @param code of Node.js' error, for example `ENOENT` */
export function startFailureMessage(code: string | undefined, program: string): string {
  if (code === 'ENOENT' && program === 'java')
    return 'Java is not installed. Install a Java runtime on this machine, or set run.command.'
  if (code === 'ENOENT') return `Could not be started: "${program}" or its directory does not exist.`
  if (code === 'EACCES') return `Could not be started: "${program}" may not be executed.`
  if (DISK_FAILURES.has(code))
    return 'Could not be started: its directory does not answer. If it is mounted over a network, check its server.'
  if (code === 'EMFILE' || code === 'ENFILE') return 'Could not be started: too many files are open at once.'
  if (code === 'EAGAIN') return 'Could not be started: the system’s limit of processes is reached.'
  if (code === 'ENOMEM') return 'Could not be started: the system has no memory left.'
  return `Could not be started: ${code ?? 'unknown reason'}.`
}
