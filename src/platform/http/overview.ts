import type { DeploymentsResponse } from '../../contract/deployment'
import { isRestricted, knownTo, type Caller } from '../caller'
import { createRecentRead } from '../concurrency/sharedRead'
import type { Deployments } from '../deployments/deployments'
import { done } from './envelope'
import { etagOf } from './etag'
import type { Network } from './routes/network'

/**
 * Maximum age of an overview. With it, fifty operators who poll every 3 s cause four reads a second. Changes made by
 * this replica are always included.
 */
const MAX_AGE_MS = 250
/** A `DeploymentsResponse`, serialized. The ETag changes with its content. */
export interface SerializedOverview {
  body: Buffer
  etag: string
}

export interface Overview {
  /** All deployments that the caller may know of, with their instances. @throws as `Runtime.list` */
  of(caller: Caller): Promise<SerializedOverview>
  /** To be called after a change: later overviews are read again. */
  forget(): void
}

/** The overview of the network, which all callers without restrictions share. */
export function createOverview(
  deployments: Pick<Deployments, 'listWithInstances'>,
  network: Pick<Network, 'managerSilent' | 'clusterSilentSince' | 'disksWithoutRoom'>,
): Overview {
  const silence = () => {
    const clusterSilentSince = network.clusterSilentSince()
    return clusterSilentSince === undefined ? {} : { clusterSilentSince }
  }
  const whole = createRecentRead(async () => {
    const [all, managerSilent, disks] = await Promise.all([
      deployments.listWithInstances(),
      network.managerSilent(),
      network.disksWithoutRoom(),
    ])
    return serialize({ deployments: all, managerSilent, ...silence(), ...(disks.length > 0 && { disks }) })
  }, MAX_AGE_MS)

  return {
    async of(caller) {
      if (!isRestricted(caller)) return whole()
      const [own, managerSilent] = await Promise.all([
        deployments.listWithInstances(knownTo(caller)),
        network.managerSilent(),
      ])
      return serialize({ deployments: own, managerSilent, ...silence() })
    },
    forget: whole.forget,
  }
}

/** Not by the schema of the response: a thousand instances would take most of the time. */
function serialize(data: DeploymentsResponse['data']): SerializedOverview {
  const body = Buffer.from(JSON.stringify(done(data)))
  return { body, etag: etagOf(body) }
}
