import { original } from '@reduxjs/toolkit'
import { copyWithStructuralSharing } from '@reduxjs/toolkit/query'
import type { Deployment, DeploymentsResponse } from '../../contract/deployment'
import type { Disk } from '../../contract/disk'
import type { Instance, InstancesResponse } from '../../contract/instance'
import type { ManagerTimestampResponse } from '../../contract/network'
import { MANAGER_ALIVE_MS } from '../../contract/pageRules'
import type { Services } from '../app/services'
import type { RootState } from '../app/types'
import { api } from './api'
import type { Meta } from './transport/baseQuery'
import type { ApiFailure } from '../failure'
import { badResponse } from '../failure'
import { usePollingInterval } from './transport/usePollingInterval'

/** With `failure`, `instances` are the last known ones, if any. */
export type OverviewSection = { deployment: Deployment; instances: Instance[]; failure?: ApiFailure }
/**
 * `disks` lists the disks that are running out of room, if the server reports them. `version` is the ETag, if the
 * server sends all of this in one call.
 */
export type Overview = {
  managerSilent: boolean
  /** When the cluster last answered, in milliseconds since the epoch, if it does not answer any more. */
  clusterSilentSince?: number
  sections: OverviewSection[]
  disks?: Disk[]
  version?: string
}

export const networkApi = api.injectEndpoints({
  endpoints: (build) => ({
    /**
     * The whole overview as one cache entry: one poll, one loading state, and two actions per poll however many
     * deployments there are. If instances are requested per deployment and one request fails, only that section fails.
     */
    getOverview: build.query<Overview, void>({
      async queryFn(_arg, { extra, getState, queryCacheKey = '' }, _options, request) {
        const known = (getState() as RootState).api.queries[queryCacheKey]?.data as Overview | undefined
        const listed = await request({ url: 'deployments?instances=true', ifNoneMatch: known?.version })
        if (listed.error) return { error: listed.error }
        if (known && listed.meta?.isUnchanged) return { data: known }
        const { deployments, managerSilent, clusterSilentSince, disks } =
          (listed.data as Partial<DeploymentsResponse> | null)?.data ?? {}
        if (!Array.isArray(deployments)) return { error: badResponse }

        const asked = Promise.all(
          deployments.map(async ({ instances: known, ...deployment }): Promise<OverviewSection> => {
            if (Array.isArray(known)) return { deployment, instances: known }
            // The server does not support the parameter `instances`.
            const { data, error } = await request(`deployments/${encodeURIComponent(deployment.name)}/instances`)
            const instances = (data as Partial<InstancesResponse> | null)?.data?.instances
            return Array.isArray(instances)
              ? { deployment, instances }
              : { deployment, instances: [], failure: error ?? badResponse }
          }),
        )
        if (typeof managerSilent === 'boolean') {
          const sections = await asked
          const version = sections.some(({ failure }) => failure) ? undefined : listed.meta?.etag
          const silence = typeof clusterSilentSince === 'number' && { clusterSilentSince }
          return { data: { managerSilent, ...silence, sections, ...listOf(disks), ...(version && { version }) } }
        }
        // The server has only the calls of product §7.
        const [sections, heartbeat] = await Promise.all([asked, request('network/getManagerTimestamp')])
        if (heartbeat.error) return { error: heartbeat.error }
        const { timestamp, disks: short } = (heartbeat.data as Partial<ManagerTimestampResponse> | null)?.data ?? {}
        if (typeof timestamp !== 'number') return { error: badResponse }
        const age = serverTime(heartbeat.meta, extra as Services) - timestamp
        return { data: { managerSilent: Math.abs(age) > MANAGER_ALIVE_MS, sections, ...listOf(short) } }
      },
      merge: (current, fresh) =>
        copyWithStructuralSharing<Overview>(original(current), keepKnown(original(current), fresh)),
      providesTags: ['Deployment', 'Instance'],
    }),
  }),
})

const POLL_MS = 3000

/** The overview as pages show it: requested on each visit, then about every 3 s while the window has the focus. */
export const usePolledOverview = () =>
  networkApi.useGetOverviewQuery(undefined, {
    pollingInterval: usePollingInterval(POLL_MS),
    skipPollingIfUnfocused: true,
    refetchOnFocus: true,
    refetchOnMountOrArgChange: true,
  })

const listOf = (disks: Disk[] | undefined) => (Array.isArray(disks) ? { disks } : {})

function keepKnown(known: Overview | undefined, fresh: Overview): Overview {
  const instancesOf = (name: string) => known?.sections.find(({ deployment }) => deployment.name === name)?.instances
  const sections = fresh.sections.map((section) =>
    section.failure ? { ...section, instances: instancesOf(section.deployment.name) ?? [] } : section,
  )
  return { ...fresh, sections }
}

/** Prefers the response's Date: the heartbeat is the server's time, and this device's clock may be wrong. */
function serverTime(meta: Meta | undefined, { now }: Services) {
  const date = Date.parse(meta?.date ?? '')
  return Number.isNaN(date) ? now() : date
}
