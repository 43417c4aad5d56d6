import type { CrashCapsule, LastExit } from '../../contract/instance'
import type { InstanceExit, Runtime } from '../runtime/runtime'
import type { Db } from '../state/db'
import { listMetrics } from '../state/metrics'

const LINES = 50
/** How much of the metrics before the end. In seconds. */
const SECONDS = 600

/** How a run ended, for people: `with exit code 1`. */
export function describeEnd({ code, signal, failure }: InstanceExit): string {
  if (failure) return failure.charAt(0).toLowerCase() + failure.slice(1).replace(/\.$/, '')
  return signal ? `by signal ${signal}` : `with exit code ${code}`
}

/** The end of a run as the Details tab shows it: `Ended by itself with exit code 1`. */
export function lastExitOf(exit: InstanceExit): LastExit {
  const { code, signal, at, requested } = exit
  return { code, signal, at, reason: `${requested ? 'Stopped' : 'Ended by itself'} ${describeEnd(exit)}` }
}

/** Gathers what is known of the moments before an end, while it is still there. */
export async function captureCrash({ db, runtime }: { db: Db; runtime: Runtime }, podName: string, exit: InstanceExit): Promise<CrashCapsule> {
  const until = new Date(exit.at)
  const [lines, cpu, memory] = await Promise.all([
    runtime.history(podName, LINES),
    listMetrics(db, podName, 'cpu', SECONDS, until),
    listMetrics(db, podName, 'memory', SECONDS, until),
  ])
  return { exit: lastExitOf(exit), lines, cpu, memory }
}
