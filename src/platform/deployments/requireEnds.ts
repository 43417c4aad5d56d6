import { AppError } from '../errors'
import type { RuntimeInstance } from '../runtime/runtime'
import type { ShareMarker } from '../share/shareMarker'
import type { InstanceRow } from '../state/deployments/instances'

/**
 * Refuses to wait for instances whose end may take forever, because it waits for the shared area.
 * @param rows the instances that are to end
 * @param continues what the manager does afterwards, as a sentence
 * @throws AppError CONFLICT if the files of `keep` cannot be written back, UNAVAILABLE if the shared area hangs
 */
export async function requireEnds(
  rows: Pick<InstanceRow, 'pod_name' | 'name'>[],
  runs: RuntimeInstance[],
  marker: ShareMarker | undefined,
  continues: string,
): Promise<void> {
  const stopping = rows.flatMap((row) => {
    const run = runs.find(({ podName, state }) => podName === row.pod_name && state === 'STOPPING')
    return run ? [{ name: row.name, problem: run.problem }] : []
  })
  const [first] = stopping
  if (!first) return
  const held = stopping.find(({ problem }) => problem !== undefined)
  if (held) throw new AppError('CONFLICT', `${held.name} has not ended yet: ${held.problem} ${continues}`)
  // An access that was underway when the area began to hang fails only when it recovers.
  await marker?.requireAnswer().catch((error: unknown) => {
    throw error instanceof AppError
      ? new AppError(error.code, `${first.name} has not ended yet: ${error.message}`)
      : error
  })
}
