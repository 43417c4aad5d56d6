import type { Logger } from 'pino'
import type { MetricPoint } from '../../../contract/metric'
import { createSharedRead } from '../../concurrency/sharedRead'
import { AppError } from '../../errors'
import type { Runtime, Usage } from '../../runtime/runtime'
import type { Db } from '../../state/db'
import { findInstanceByPod } from '../../state/deployments/instances'
import { dropOldMetrics, insertMetrics, listMetrics, type Metric } from '../../state/deployments/metrics'
import { coresUsed } from './usageMeter'

/** Sampling interval and retention (decisions §7). */
const INTERVAL_MS = 15_000
const KEPT_SECONDS = 3600

export interface Metrics {
  /**
   * The points of the last hour, oldest first.
   * @param isKnown whether the caller may know of a deployment
   * @throws AppError NOT_FOUND for an unknown pod
   */
  of(podName: string, metric: Metric, isKnown: (deployment: string) => boolean): Promise<MetricPoint[]>
}

/** Reads the stored metrics for the charts. `sampleMetrics` writes them. */
export function createMetrics(db: Db): Metrics {
  return {
    async of(podName, metric, isKnown) {
      const instance = await findInstanceByPod(db, podName)
      if (!instance || !isKnown(instance.deployment))
        throw new AppError('NOT_FOUND', `There is no pod named "${podName}".`)
      return listMetrics(db, podName, metric, KEPT_SECONDS)
    },
  }
}

/** Samples the usage of every instance every 15 s while `isActive`. @returns a function that stops it */
export function sampleMetrics({
  db,
  runtime,
  log,
  isActive,
}: {
  db: Db
  runtime: Runtime
  log: Logger
  isActive: () => boolean
}): () => Promise<void> {
  let lastUsage = new Map<string, Usage>()
  let sampledAt = 0
  let busy: Promise<void> = Promise.resolve()

  async function sample(): Promise<void> {
    if (!isActive()) return
    const now = Date.now()
    const usage = await runtime.sample()
    const span = now - sampledAt
    const rows = usage.flatMap((used) => {
      const cores = coresUsed(lastUsage.get(used.podName), used, span)
      return cores === undefined
        ? []
        : [{ pod_name: used.podName, at: new Date(now), cpu: cores * 1000, memory: used.memoryBytes / 1024 }]
    })
    lastUsage = new Map(usage.map((used) => [used.podName, used]))
    sampledAt = now
    await insertMetrics(db, rows)
    await dropOldMetrics(db, KEPT_SECONDS)
  }

  // One at a time: each counts from the one before it, and may take longer than the interval.
  const sampleInTurn = createSharedRead(() =>
    sample().catch((error: unknown) => log.warn({ err: error }, 'failed to sample metrics')),
  )
  const sampleNow = () => {
    busy = sampleInTurn()
  }
  const timer = setInterval(sampleNow, INTERVAL_MS)
  sampleNow()
  return async () => {
    clearInterval(timer)
    await busy
  }
}
