import type { CrashCapsule, CrashCapsuleResponse, Instance, InstancesResponse } from '../../contract/instance'
import { api } from './api'
import type { DataOf } from './transport/dataSchema'
import { dataSchema, listIn } from './transport/dataSchema'

const urlOf = (deployment: string) => `deployments/${encodeURIComponent(deployment)}/instances`

export const instancesApi = api.injectEndpoints({
  endpoints: (build) => ({
    getInstances: build.query<Instance[], string>({
      query: urlOf,
      responseSchema: dataSchema(({ instances }: DataOf<InstancesResponse>) => listIn(instances)),
      providesTags: ['Instance'],
      // A returning user sees the data that the overview passed on, not an outdated cache entry.
      keepUnusedDataFor: 0,
    }),

    /** The capsule of the last crash. `crashedAt` gives each crash a cache entry of its own. */
    getCrashCapsule: build.query<CrashCapsule, { deployment: string; uid: string; crashedAt: number }>({
      query: ({ deployment, uid }) => `${urlOf(deployment)}/${encodeURIComponent(uid)}/crash`,
      responseSchema: dataSchema((capsule: DataOf<CrashCapsuleResponse>) =>
        listIn(capsule.lines) ? (capsule as CrashCapsule) : undefined,
      ),
    }),
  }),
})

export const { useGetInstancesQuery, useGetCrashCapsuleQuery } = instancesApi
