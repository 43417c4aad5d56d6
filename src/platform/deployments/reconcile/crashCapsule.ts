import type { CrashCapsule, LastExit } from '../../../contract/instance'
import { storable } from '../../runtime/consoleText'
import type { InstanceExit, Runtime } from '../../runtime/runtime'
import type { Db } from '../../state/db'
import { listMetrics } from '../../state/deployments/metrics'

const CAPSULE_LINES = 50
/** The time before the end whose metrics are kept. */
const CAPSULE_SECONDS = 600

/** The end of a run for the Details tab: `Ended by itself with exit code 1`, or the message of a failure. */
export function lastExitOf(exit: InstanceExit): LastExit {
  const { code, signal, at, requested } = exit
  return {
    code,
    signal,
    at,
    reason: failureOf(exit) ?? `${requested ? 'Stopped' : 'Ended by itself'} ${howEnded(exit)}`,
  }
}

/** The reason for blocking an instance after repeated crashes, without a final full stop. */
export function describeCrashes(count: number, last: InstanceExit): string {
  const failure = failureOf(last)
  return `Ended ${count} times within 5 minutes${failure ? `. The last time: ${failure}` : `, the last time ${howEnded(last)}`}`
}

/** The message of an end that needs more than a code or a signal, without a final full stop. */
function failureOf({ failure, killed, interruption }: InstanceExit): string | undefined {
  const message = failure ?? killed ?? interruption
  return message === undefined ? undefined : storable(message).replace(/\.$/, '')
}

const howEnded = ({ code, signal }: InstanceExit) => (signal ? `by signal ${signal}` : `with exit code ${code}`)

/** Collects the last console lines and metrics before an end, while they are still available. */
export async function captureCrash(
  { db, runtime }: { db: Db; runtime: Runtime },
  podName: string,
  exit: InstanceExit,
): Promise<CrashCapsule> {
  const until = new Date(exit.at)
  const [lines, cpu, memory] = await Promise.all([
    runtime.history(podName, CAPSULE_LINES),
    listMetrics(db, podName, 'cpu', CAPSULE_SECONDS, until),
    listMetrics(db, podName, 'memory', CAPSULE_SECONDS, until),
  ])
  return { exit: lastExitOf(exit), lines, cpu, memory }
}
