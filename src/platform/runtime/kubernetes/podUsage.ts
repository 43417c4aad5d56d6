import { setTimeout as delay } from 'node:timers/promises'
import type { V1Pod } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import { z } from 'zod'
import { readText } from '../../kubernetes/boundedBody'
import type { Usage } from '../runtime'
import { ClusterRefusal, type ClusterClient } from './clusterClient'
import { CONTAINER, MANAGED_BY_SELECTOR } from './podSpec'
import { nameOf, runIdOf } from './podState'

const REQUEST_TIMEOUT_MS = 5000
/** Maximum size of a response. A kubelet's comes from a machine that runs users' programs. */
const MAX_RESPONSE_BYTES = 32 * 2 ** 20
/** Minimum time between two reads of the cluster's figures. The kubelet updates them every 10 s. */
const REFRESH_MS = 10_000
/** How long the first caller waits for figures. */
const MAX_WAIT_MS = 2000

/** Figures come from machines that run users' programs. An invalid one must not affect the others. */
const Amount = z.number().nonnegative()
const Quantity = z
  .string()
  .transform(parseQuantity)
  .refine((value) => value >= 0)

/** The metrics of `metrics.k8s.io`, with quantities such as `12345678n` and `23456Ki`. */
const PodMetrics = z.object({
  metadata: z.object({ name: z.string() }),
  containers: z.array(z.object({ name: z.string(), usage: z.object({ cpu: Quantity, memory: Quantity }) })),
})

/** The figures of a kubelet: the cores in use are averaged over the last seconds. */
const Figures = z.object({
  cpu: z.object({ usageNanoCores: Amount.default(0) }).default({ usageNanoCores: 0 }),
  memory: z.object({ workingSetBytes: Amount.default(0) }).default({ workingSetBytes: 0 }),
})

/** The used part of the kubelet's summary: the figures of a Pod, and those of its containers. */
const PodSummary = Figures.extend({
  podRef: z.object({ uid: z.string() }),
  containers: z.array(Figures.extend({ name: z.string() })).default([]),
})

/** The container of a Pod's program. Others, which the cluster has injected, do not count against its limits. */
const programIn = <Container extends { name: string }>(containers: Container[]): Container | undefined =>
  containers.find(({ name }) => name === CONTAINER)

/** The usage of a run as the cluster measures it: an average over the last seconds. */
interface Rate {
  cores: number
  memoryBytes: number
}

/**
 * Reads the usage of Pods from `metrics.k8s.io`, or from the kubelets if the cluster has no metrics server. The cluster
 * is read in the background, so that no page but the first one waits for it.
 * @returns a function that resolves with the latest known usage of the given Pods, without those that have no figures
 * yet
 */
export function createPodUsage(client: ClusterClient, log: Pick<Logger, 'warn'>): (pods: V1Pod[]) => Promise<Usage[]> {
  /** The latest usage, by run id. */
  let rates = new Map<string, Rate>()
  /** CPU time by run id: the rates, summed up over the time between two reads. */
  let totals = new Map<string, { cpuMs: number; at: number }>()
  let isWarned = false
  let refreshing: Promise<void> | undefined
  let refreshedAt = -Infinity

  const read = async <Data>(path: string, query: Record<string, string> = {}): Promise<Data> =>
    JSON.parse(
      await readText(await client.stream(path, query, AbortSignal.timeout(REQUEST_TIMEOUT_MS)), MAX_RESPONSE_BYTES),
    ) as Data

  async function fromMetrics(pods: V1Pod[]): Promise<typeof rates> {
    const { items } = await read<{ items: unknown[] }>(
      `/apis/metrics.k8s.io/v1beta1/namespaces/${client.namespace}/pods`,
      { labelSelector: MANAGED_BY_SELECTOR },
    )
    const byName = new Map(
      validEntries(PodMetrics, items).map(({ metadata, containers }) => [metadata.name, containers]),
    )
    return new Map(
      pods.flatMap((pod) => {
        const usage = programIn(byName.get(nameOf(pod)) ?? [])?.usage
        return usage ? [[runIdOf(pod), { cores: usage.cpu, memoryBytes: usage.memory }] as const] : []
      }),
    )
  }

  async function fromKubelet(node: string, pods: V1Pod[]): Promise<[string, Rate][]> {
    const placed = new Set(pods.filter(({ spec }) => spec?.nodeName === node).map(runIdOf))
    const summary = await read<{ pods: unknown[] }>(`/api/v1/nodes/${node}/proxy/stats/summary`)
    return validEntries(PodSummary, summary.pods)
      .filter(({ podRef }) => placed.has(podRef.uid))
      .map((summary) => {
        const { cpu, memory } = programIn(summary.containers) ?? summary
        return [summary.podRef.uid, { cores: cpu.usageNanoCores / 1e9, memoryBytes: memory.workingSetBytes }]
      })
  }

  /** Pods of a node that does not answer have no figures. @throws AggregateError if no node answers */
  async function fromKubelets(pods: V1Pod[]): Promise<typeof rates> {
    const nodes = [...new Set(pods.flatMap(({ spec }) => spec?.nodeName ?? []))]
    const responses = nodes.map((node) => fromKubelet(node, pods))
    if (nodes.length > 0) await Promise.any(responses)
    const settled = await Promise.allSettled(responses)
    return new Map(settled.flatMap((response) => (response.status === 'fulfilled' ? response.value : [])))
  }

  async function refresh(pods: V1Pod[]): Promise<void> {
    try {
      rates = await fromMetrics(pods).catch((error: unknown) => {
        if (error instanceof ClusterRefusal) return fromKubelets(pods)
        throw error
      })
      isWarned = false
    } catch (error) {
      if (!isWarned)
        log.warn(
          { err: error },
          isRefusedByAll(error)
            ? 'the usage of instances is unknown: the cluster has no metrics server, and the platform may not read the kubelets'
            : 'the usage of instances is unknown: the cluster cannot be asked; retrying',
        )
      isWarned = true
      rates = new Map()
    }
  }

  return async (pods) => {
    if (pods.length > 0 && !refreshing && performance.now() - refreshedAt >= REFRESH_MS) {
      const isFirst = refreshedAt === -Infinity
      refreshedAt = performance.now()
      refreshing = refresh(pods).finally(() => (refreshing = undefined))
      if (isFirst) await Promise.race([refreshing, delay(MAX_WAIT_MS, undefined, { ref: false })])
    }
    const now = performance.now()
    const next: typeof totals = new Map()
    const usage = pods.flatMap((pod) => {
      const runId = runIdOf(pod)
      const rate = rates.get(runId)
      if (!rate) return []
      const before = totals.get(runId) ?? { cpuMs: 0, at: now }
      const cpuMs = before.cpuMs + rate.cores * (now - before.at)
      next.set(runId, { cpuMs, at: now })
      return [{ podName: nameOf(pod), runId, cpuMs, memoryBytes: rate.memoryBytes }]
    })
    totals = next
    return usage
  }
}

/** Whether no node permits the platform to read the figures of its kubelet. @param error of `fromKubelets` */
function isRefusedByAll(error: unknown): boolean {
  return error instanceof AggregateError && error.errors.every((reason) => reason instanceof ClusterRefusal)
}

/** Returns the entries that have the expected shape. */
function validEntries<Schema extends z.ZodType>(schema: Schema, entries: unknown[]): z.infer<Schema>[] {
  return entries.flatMap((entry) => schema.safeParse(entry).data ?? [])
}

const FACTORS: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}
const QUANTITY = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)([numkMGTPE]|[KMGTPE]i)?$/

/**
 * Parses a quantity of Kubernetes (resource.Quantity): 0.25 for `250m`. NaN for other texts, and for numbers that are
 * too large.
 */
export function parseQuantity(text: string): number {
  const [, number = '', unit] = QUANTITY.exec(text) ?? []
  // A quantity has an exponent or a unit, not both.
  if (number === '' || (unit !== undefined && /e/i.test(number))) return NaN
  const value = Number(number) * (unit === undefined ? 1 : (FACTORS[unit] ?? NaN))
  return Number.isFinite(value) ? value : NaN
}
