import type { Disk } from '../../contract/disk'
import { ManagerTimestampAnswer, NodesAnswer } from '../../contract/network'
import { done } from './envelope'
import type { Router } from './router'

export interface Network {
  /** The manager's last heartbeat, milliseconds since the epoch. */
  managerTimestamp(): Promise<number>
  nodes(): Promise<string[]>
  disks(): Promise<Disk[]>
}

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
    done({ nodes: await network.nodes() }),
  )
}
