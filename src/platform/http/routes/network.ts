import type { Disk } from '../../../contract/disk'
import { PeersAnswer, PeersQuery } from '../../../contract/discovery'
import { MetricAnswer, MetricQuery } from '../../../contract/metric'
import { ManagerTimestampAnswer, NodesAnswer, type NodeDetails } from '../../../contract/network'
import type { Discovery } from '../../deployments/monitoring/discovery'
import type { Metrics } from '../../deployments/monitoring/metrics'
import { done } from '../envelope'
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
  nodes(): Promise<NetworkNodes>
  disks(): Promise<Disk[]>
}

/** Adds the calls for the state of the network: the manager's heartbeat with disks that run out of room, and the nodes. */
export function networkRoutes(app: Router, network: Network): void {
  const config = { access: 'user' } as const

  app.get(
    '/api/network/getManagerTimestamp',
    { config, schema: { response: { 200: ManagerTimestampAnswer } } },
    async () => {
      const [timestamp, disks] = await Promise.all([network.managerTimestamp(), network.disks()])
      const short = disks.filter(({ level }) => level !== 'ok')
      return done({ timestamp, ...(short.length > 0 && { disks: short }) })
    },
  )

  app.get('/api/network/nodes', { config, schema: { response: { 200: NodesAnswer } } }, async () =>
    done(await network.nodes()),
  )
}

/** Adds the call that lists the instances of deployments, as peers files have them. */
export function discoveryRoutes(app: Router, discovery: Pick<Discovery, 'peersOf'>): void {
  app.get(
    '/api/discovery',
    { config: { access: 'user' }, schema: { querystring: PeersQuery, response: { 200: PeersAnswer } } },
    async ({ query }) => done(await discovery.peersOf(query.deployment)),
  )
}

/** Adds the calls for the CPU and memory of an instance over time. */
export function metricRoutes(app: Router, metrics: Metrics): void {
  for (const metric of ['cpu', 'memory'] as const) {
    app.get(
      `/api/metrics/${metric}`,
      { config: { access: 'user' }, schema: { querystring: MetricQuery, response: { 200: MetricAnswer } } },
      async ({ query }) => done({ data: await metrics.of(query.pod, metric) }),
    )
  }
}
