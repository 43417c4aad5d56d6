import type { Definition } from '../../../contract/deployment'
import type { Instance } from '../../../contract/instance'
import type { RuntimeInstance } from '../../runtime/runtime'

type Timed = Pick<Definition, 'ready' | 'readyTimeoutSeconds'>

/** Describes what a run that is STARTING for too long waits for; undefined if it is ready or has time left. */
export function lateStartOf(
  { ready, readyTimeoutSeconds }: Timed,
  run: RuntimeInstance,
  now: number,
): Instance['lateStart'] {
  if (run.state !== 'STARTING' || now < dueAt({ readyTimeoutSeconds }, run)) return undefined
  // Without a ready pattern, a run is ready as soon as its program runs.
  const ofProgram = ready === undefined ? 'its program to start' : `a console line that matches ${ready}`
  return { afterSeconds: readyTimeoutSeconds, waitingFor: run.waitsFor ?? ofProgram }
}

/** The deadline for a STARTING run to be ready, in milliseconds since the epoch. */
export function dueAt(
  { readyTimeoutSeconds }: Pick<Definition, 'readyTimeoutSeconds'>,
  { startedAt }: RuntimeInstance,
): number {
  return startedAt + readyTimeoutSeconds * 1000
}
