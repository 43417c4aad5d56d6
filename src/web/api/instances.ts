import type { CrashCapsule, CrashCapsuleAnswer, Instance, InstancesAnswer } from '../../contract/instance'
import { api } from './api'
import type { DataOf } from './reading'
import { listIn, reading } from './reading'

const urlOf = (deployment: string) => `deployments/${encodeURIComponent(deployment)}/instances`

export const instancesApi = api.injectEndpoints({
  endpoints: (build) => ({
    getInstances: build.query<Instance[], string>({
      queryFn: reading(urlOf, ({ instances }: DataOf<InstancesAnswer>) => listIn(instances)),
      providesTags: ['Instance'],
      // Instances come and go: who comes back is shown what the overview passed along, not what was there the last time.
      keepUnusedDataFor: 0,
    }),

    /** Of the last crash; `crashedAt` makes the next one an entry of its own. */
    getCrashCapsule: build.query<CrashCapsule, { deployment: string; uid: string; crashedAt: number }>({
      queryFn: reading(
        ({ deployment, uid }) => `${urlOf(deployment)}/${encodeURIComponent(uid)}/crash`,
        (capsule: DataOf<CrashCapsuleAnswer>) => (listIn(capsule.lines) ? (capsule as CrashCapsule) : undefined),
      ),
    }),
  }),
})

export const { useGetInstancesQuery, useGetCrashCapsuleQuery } = instancesApi
