import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { V1Pod } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import type { Usage } from '../runtime'
import { ClusterRefusal, type ClusterClient } from './clusterClient'
import { MANAGED_BY_SELECTOR } from './podSpec'
import { nameOf, runIdOf } from './podState'

const REQUEST_TIMEOUT_MS = 5000
/** How long a caller waits for figures that are newer than the last ones. */
const MAX_WAIT_MS = 2000
interface PodMetrics {
  metadata: { name: string }
  /** Quantities such as `12345678n` and `23456Ki`. */
  containers: { usage: { cpu: string; memory: string } }[]
}

/** The part of the kubelet's summary that is read here. */
interface Summary {
  pods: {
    podRef: { name: string; namespace: string; uid: string }
    cpu?: { usageCoreNanoSeconds?: number }
    memory?: { workingSetBytes?: number }
  }[]
}

/**
 * Reads what Pods use: from `metrics.k8s.io`, or from the kubelets where the cluster has no metrics server.
 * @returns a function that resolves with the usage of those of the Pods that the cluster knows it of
 */
export function createPodUsage(client: ClusterClient, log: Pick<Logger, 'warn'>): (pods: V1Pod[]) => Promise<Usage[]> {
  /** CPU time by run. The metrics API tells an average, which is summed up over the time between two samples. */
  let totals = new Map<string, { cpuMs: number; at: number }>()
  let isWarned = false
  let latest: Usage[] = []
  let refreshing: Promise<void> | undefined

  const read = async <Answer>(path: string, query: Record<string, string> = {}): Promise<Answer> =>
    (await json(await client.stream(path, query, AbortSignal.timeout(REQUEST_TIMEOUT_MS)))) as Answer

  async function fromMetrics(pods: V1Pod[]): Promise<Usage[]> {
    const { items } = await read<{ items: PodMetrics[] }>(
      `/apis/metrics.k8s.io/v1beta1/namespaces/${client.namespace}/pods`,
      { labelSelector: MANAGED_BY_SELECTOR },
    )
    const byName = new Map(items.map((item) => [item.metadata.name, item.containers]))
    const now = performance.now()
    const next: typeof totals = new Map()
    const usage = pods.flatMap((pod) => {
      const containers = byName.get(nameOf(pod))
      if (!containers) return []
      const runId = runIdOf(pod)
      const cores = sum(containers.map(({ usage: { cpu } }) => quantity(cpu)))
      const before = totals.get(runId) ?? { cpuMs: 0, at: now }
      const cpuMs = before.cpuMs + cores * (now - before.at)
      next.set(runId, { cpuMs, at: now })
      return [
        {
          podName: nameOf(pod),
          runId,
          cpuMs,
          memoryBytes: sum(containers.map(({ usage: { memory } }) => quantity(memory))),
        },
      ]
    })
    totals = next
    return usage
  }

  async function fromKubelets(pods: V1Pod[]): Promise<Usage[]> {
    const nodes = [...new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))]
    const summaries = await Promise.all(nodes.map((node) => read<Summary>(`/api/v1/nodes/${node}/proxy/stats/summary`)))
    const byUid = new Map(summaries.flatMap((summary) => summary.pods).map((pod) => [pod.podRef.uid, pod]))
    return pods.flatMap((pod) => {
      const { cpu, memory } = byUid.get(runIdOf(pod)) ?? {}
      if (!cpu && !memory) return []
      const cpuMs = (cpu?.usageCoreNanoSeconds ?? 0) / 1e6
      return [{ podName: nameOf(pod), runId: runIdOf(pod), cpuMs, memoryBytes: memory?.workingSetBytes ?? 0 }]
    })
  }

  async function refresh(pods: V1Pod[]): Promise<void> {
    try {
      latest = await fromMetrics(pods).catch((error: unknown) => {
        if (error instanceof ClusterRefusal) return fromKubelets(pods)
        throw error
      })
    } catch (error) {
      if (!isWarned)
        log.warn(
          { err: error },
          'the usage of instances is unknown: the cluster has no metrics server, and the platform may not read the kubelets',
        )
      isWarned = true
      latest = []
    }
  }

  return async (pods) => {
    if (pods.length === 0) return []
    // While the cluster hangs, pages show what was known.
    if (!refreshing) {
      refreshing = refresh(pods).finally(() => (refreshing = undefined))
      await Promise.race([refreshing, delay(MAX_WAIT_MS, undefined, { ref: false })])
    }
    const runIds = new Set(pods.map(runIdOf))
    return latest.filter(({ runId }) => runIds.has(runId))
  }
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)

const FACTORS: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
}

/** A quantity of Kubernetes (resource.Quantity) as a number. */
export function quantity(text: string): number {
  const [, number = '0', unit = ''] = /^([\d.]+)([A-Za-z]*)$/.exec(text) ?? []
  return Number(number) * (FACTORS[unit] ?? 1)
}
