import type { Disk } from '../../../contract/disk'
import { PeersResponse, PeersQuery, type Peers } from '../../../contract/discovery'
import { MetricResponse, MetricQuery } from '../../../contract/metric'
import { ManagerTimestampResponse, NodesResponse, type NodeDetails } from '../../../contract/network'
import type { Discovery } from '../../deployments/monitoring/discovery'
import type { Metrics } from '../../deployments/monitoring/metrics'
import { isRestricted, knownTo } from '../../caller'
import { checkedByHandler, forAnyone, forOperators, userOf } from '../access'
import { done } from '../envelope'
import { call } from '../openapi/call'
import type { Router } from '../router'

export interface NetworkNodes {
  /** Names of the nodes that instances can run on. */
  nodes: string[]
  /** All nodes of a cluster; undefined on one machine. */
  details?: NodeDetails[]
}

export interface Network {
  /** The manager's last heartbeat, milliseconds since the epoch. */
  managerTimestamp(): Promise<number>
  /** Whether the last heartbeat is older than that of a live manager can be. */
  managerSilent(): Promise<boolean>
  /** The last response of a cluster that has stopped answering, in milliseconds since the epoch (see `silentSince`). */
  clusterSilentSince(): number | undefined
  nodes(): Promise<NetworkNodes>
  disks(): Promise<Disk[]>
  /** Those whose level is not `ok`, as of the last seconds. */
  disksWithoutRoom(): Promise<Disk[]>
}

/**
 * Adds the calls for the state of the network: the manager's heartbeat with disks that run out of space, and the nodes.
 */
export function networkRoutes(app: Router, network: Network): void {
  app.get(
    '/api/network/getManagerTimestamp',
    {
      config: { access: forAnyone('read') },
      schema: {
        ...call('getManagerTimestamp', 'Get the last heartbeat of the manager, and disks without room'),
        response: { 200: ManagerTimestampResponse },
      },
    },
    async (request) => {
      // Only operators see the disks.
      const [timestamp, disks] = await Promise.all([
        network.managerTimestamp(),
        isRestricted(userOf(request)) ? [] : network.disksWithoutRoom(),
      ])
      return done({ timestamp, ...(disks.length > 0 && { disks }) })
    },
  )

  app.get(
    '/api/network/nodes',
    {
      config: { access: forOperators('read') },
      schema: { ...call('listNodes', 'List the machines that instances can run on'), response: { 200: NodesResponse } },
    },
    async () => done(await network.nodes()),
  )
}

/** Adds the call that lists the instances of deployments, as peers files have them. */
export function discoveryRoutes(app: Router, discovery: Pick<Discovery, 'peersOf'>): void {
  app.get(
    '/api/discovery',
    {
      config: { access: checkedByHandler('view') },
      schema: {
        ...call('listPeers', 'List the running instances of deployments, as a peers file has them', 'NOT_FOUND'),
        querystring: PeersQuery,
        response: { 200: PeersResponse },
      },
    },
    async (request) => {
      const { deployment: names } = request.query
      const known = await discovery.peersOf(names.filter(knownTo(userOf(request))))
      // Deployments that the caller must not know of are answered like unknown names.
      const none = names.map((name): [string, Peers['deployments'][string]] => [name, []])
      return done({ deployments: { ...Object.fromEntries(none), ...known.deployments } })
    },
  )
}

/** Adds the calls for the CPU and memory of an instance over time. */
export function metricRoutes(app: Router, metrics: Metrics): void {
  const usages = [
    ['cpu', call('getCpuUsage', 'Read the CPU usage of an instance over the last hour', 'NOT_FOUND')],
    ['memory', call('getMemoryUsage', 'Read the memory usage of an instance over the last hour', 'NOT_FOUND')],
  ] as const
  for (const [metric, described] of usages) {
    app.get(
      `/api/metrics/${metric}`,
      {
        config: { access: checkedByHandler('view', 'metrics') },
        schema: { ...described, querystring: MetricQuery, response: { 200: MetricResponse } },
      },
      async (request) => done({ data: await metrics.of(request.query.pod, metric, knownTo(userOf(request))) }),
    )
  }
}
