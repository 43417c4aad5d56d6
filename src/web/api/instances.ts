import type { CrashCapsule, CrashCapsuleAnswer, Instance, InstancesAnswer } from '../../contract/instance'
import { api } from './api'
import { badAnswer } from './failure'

const urlOf = (deployment: string) => `deployments/${encodeURIComponent(deployment)}/instances`

export const instancesApi = api.injectEndpoints({
  endpoints: (build) => ({
    getInstances: build.query<Instance[], string>({
      async queryFn(deployment, _api, _options, request) {
        const { data, error } = await request(urlOf(deployment))
        const instances = (data as Partial<InstancesAnswer> | null)?.data?.instances
        return Array.isArray(instances) ? { data: instances } : { error: error ?? badAnswer }
      },
      providesTags: ['Instance'],
    }),

    /** Of the last crash; `crashedAt` makes the next one an entry of its own. */
    getCrashCapsule: build.query<CrashCapsule, { deployment: string; uid: string; crashedAt: number }>({
      async queryFn({ deployment, uid }, _api, _options, request) {
        const { data, error } = await request(`${urlOf(deployment)}/${encodeURIComponent(uid)}/crash`)
        const capsule = (data as Partial<CrashCapsuleAnswer> | null)?.data
        return capsule && Array.isArray(capsule.lines) ? { data: capsule } : { error: error ?? badAnswer }
      },
    }),
  }),
})

export const { useGetInstancesQuery, useLazyGetCrashCapsuleQuery } = instancesApi
