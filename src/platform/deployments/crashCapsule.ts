import type { CrashCapsule, LastExit } from '../../contract/instance'
import type { InstanceExit, Runtime } from '../runtime/runtime'
import type { Db } from '../state/db'
import { listMetrics } from '../state/metrics'

const LINES = 50
/** How much of the metrics before the end. In seconds. */
const SECONDS = 600

/** The end of a run as the Details tab shows it: `Ended by itself with exit code 1`. A failure is a sentence of its own. */
export function lastExitOf(exit: InstanceExit): LastExit {
  const { code, signal, at, requested } = exit
  return {
    code,
    signal,
    at,
    reason: failureOf(exit) ?? `${requested ? 'Stopped' : 'Ended by itself'} ${howEnded(exit)}`,
  }
}

/** Why an instance that ended again and again is not started any more, without a full stop. */
export function describeCrashes(count: number, last: InstanceExit): string {
  const failure = failureOf(last)
  return `Ended ${count} times within 5 minutes${failure ? `. The last time: ${failure}` : `, the last time ${howEnded(last)}`}`
}

const failureOf = ({ failure }: InstanceExit) => failure?.replace(/\.$/, '')

const howEnded = ({ code, signal }: InstanceExit) => (signal ? `by signal ${signal}` : `with exit code ${code}`)

/** Gathers what is known of the moments before an end, while it is still there. */
export async function captureCrash(
  { db, runtime }: { db: Db; runtime: Runtime },
  podName: string,
  exit: InstanceExit,
): Promise<CrashCapsule> {
  const until = new Date(exit.at)
  const [lines, cpu, memory] = await Promise.all([
    runtime.history(podName, LINES),
    listMetrics(db, podName, 'cpu', SECONDS, until),
    listMetrics(db, podName, 'memory', SECONDS, until),
  ])
  return { exit: lastExitOf(exit), lines, cpu, memory }
}
