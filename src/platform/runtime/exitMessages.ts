import type { InstanceExit } from './runtime'

/** Grace period between SIGTERM and SIGKILL (decisions §5). */
export const KILL_AFTER_MS = 10_000

/** The console message for the end of a run. */
export function describeExit({ code, signal, requested, failure, interruption }: InstanceExit): string {
  if (failure) return failure
  if (interruption !== undefined) return interruptionText(interruption)
  const how = signal ? `by signal ${signal}` : `with exit code ${code}`
  return requested ? `Stopped (${how}).` : `Ended by itself ${how}.`
}

/** @param interruption of `InstanceExit` */
export const interruptionText = (interruption: string) => `Ended by the cluster: ${interruption}`

/** The console message for a failed start. @param code of Node.js' error, for example `ENOENT` */
export function startFailureMessage(code: string | undefined, program: string): string {
  if (code === 'ENOENT' && program === 'java')
    return 'Java is not installed. Install a Java runtime on this machine, or set run.command.'
  if (code === 'ENOENT') return `Could not be started: "${program}" or its directory does not exist.`
  if (code === 'EACCES') return `Could not be started: "${program}" may not be executed.`
  if (code === 'ETIMEDOUT')
    return 'Could not be started: its directory does not answer. If it is mounted over a network, check its server.'
  if (code === 'EMFILE' || code === 'ENFILE') return 'Could not be started: too many files are open at once.'
  if (code === 'EAGAIN') return 'Could not be started: the system’s limit of processes is reached.'
  return `Could not be started: ${code ?? 'unknown reason'}.`
}
