import type { CrashCapsule, CrashCapsuleAnswer, Instance, InstancesAnswer } from '../../contract/instance'
import { api } from './api'
import type { DataOf } from './transport/answerSchema'
import { answerSchema, listIn } from './transport/answerSchema'

const urlOf = (deployment: string) => `deployments/${encodeURIComponent(deployment)}/instances`

export const instancesApi = api.injectEndpoints({
  endpoints: (build) => ({
    getInstances: build.query<Instance[], string>({
      query: urlOf,
      responseSchema: answerSchema(({ instances }: DataOf<InstancesAnswer>) => listIn(instances)),
      providesTags: ['Instance'],
      // A returning user sees the data that the overview passed on, not an outdated cache entry.
      keepUnusedDataFor: 0,
    }),

    /** The capsule of the last crash. `crashedAt` gives each crash a cache entry of its own. */
    getCrashCapsule: build.query<CrashCapsule, { deployment: string; uid: string; crashedAt: number }>({
      query: ({ deployment, uid }) => `${urlOf(deployment)}/${encodeURIComponent(uid)}/crash`,
      responseSchema: answerSchema((capsule: DataOf<CrashCapsuleAnswer>) =>
        listIn(capsule.lines) ? (capsule as CrashCapsule) : undefined,
      ),
    }),
  }),
})

export const { useGetInstancesQuery, useGetCrashCapsuleQuery } = instancesApi
