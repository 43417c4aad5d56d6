import type { ConfigurationAnswer, CreateDeployment, Deployment, DeploymentsAnswer, Toggle } from '../../contract/deployment'
import type { NodesAnswer } from '../../contract/network'
import { api } from './api'
import { badAnswer } from './failure'

/** Restarting and deleting answer when the last instance has stopped, and stopping may take its time. In milliseconds. */
const STOPPING_TIMEOUT_MS = 600_000

const urlOf = (name: string) => `deployments/${encodeURIComponent(name)}`

const deploymentsApi = api.injectEndpoints({
  endpoints: (build) => ({
    getDeployments: build.query<Deployment[], void>({
      async queryFn(_arg, _api, _options, request) {
        const { data, error } = await request('deployments')
        const deployments = (data as Partial<DeploymentsAnswer> | null)?.data?.deployments
        return Array.isArray(deployments) ? { data: deployments } : { error: error ?? badAnswer }
      },
      providesTags: ['Deployment'],
    }),

    getNodes: build.query<string[], void>({
      async queryFn(_arg, _api, _options, request) {
        const { data, error } = await request('network/nodes')
        const nodes = (data as Partial<NodesAnswer> | null)?.data?.nodes
        return Array.isArray(nodes) ? { data: nodes } : { error: error ?? badAnswer }
      },
    }),

    createDeployment: build.mutation<null, CreateDeployment>({
      query: (body) => ({ url: 'deployments', method: 'POST', body }),
      transformResponse: () => null,
      invalidatesTags: ['Deployment'],
    }),

    deleteDeployment: build.mutation<null, string>({
      query: (name) => ({ url: urlOf(name), method: 'DELETE', timeoutMs: STOPPING_TIMEOUT_MS }),
      transformResponse: () => null,
      async onQueryStarted(name, { dispatch, queryFulfilled }) {
        const remove = deploymentsApi.util.updateQueryData('getDeployments', undefined, (deployments) =>
          deployments.filter((deployment) => deployment.name !== name),
        )
        // Before the list is fetched anew, so that no card of something deleted can be clicked.
        await queryFulfilled.then(() => dispatch(remove), () => {})
      },
      invalidatesTags: ['Deployment'],
    }),

    toggleDeployment: build.mutation<null, { name: string } & Toggle>({
      query: ({ name, enabled }) => ({ url: `${urlOf(name)}/toggle`, method: 'POST', body: { enabled } }),
      transformResponse: () => null,
      async onQueryStarted({ name, enabled }, { dispatch, queryFulfilled }) {
        const patch = dispatch(
          deploymentsApi.util.updateQueryData('getDeployments', undefined, (deployments) => {
            const deployment = deployments.find((candidate) => candidate.name === name)
            if (deployment) deployment.enabled = enabled
          }),
        )
        await queryFulfilled.catch(patch.undo)
      },
      invalidatesTags: ['Deployment'],
    }),

    restartDeployment: build.mutation<null, string>({
      query: (name) => ({ url: `${urlOf(name)}/restart`, method: 'POST', timeoutMs: STOPPING_TIMEOUT_MS }),
      transformResponse: () => null,
      invalidatesTags: ['Deployment'],
    }),

    getDeploymentConfig: build.query<string, string>({
      async queryFn(name, _api, _options, request) {
        const { data, error } = await request(urlOf(name))
        const content = (data as Partial<ConfigurationAnswer> | null)?.data?.content
        return typeof content === 'string' ? { data: content } : { error: error ?? badAnswer }
      },
      providesTags: ['Deployment'],
    }),

    saveDeploymentConfig: build.mutation<null, { name: string; content: string }>({
      query: ({ name, content }) => ({ url: urlOf(name), method: 'PATCH', body: { content } }),
      transformResponse: () => null,
      async onQueryStarted({ name, content }, { dispatch, queryFulfilled }) {
        const keep = deploymentsApi.util.updateQueryData('getDeploymentConfig', name, () => content)
        // The stored text is known before whoever waits for the save lets go of the draft: the editor never jumps back.
        await queryFulfilled.then(() => dispatch(keep), () => {})
      },
      invalidatesTags: ['Deployment'],
    }),
  }),
})

export const {
  useGetDeploymentsQuery,
  useGetNodesQuery,
  useCreateDeploymentMutation,
  useDeleteDeploymentMutation,
  useToggleDeploymentMutation,
  useRestartDeploymentMutation,
  useGetDeploymentConfigQuery,
  useSaveDeploymentConfigMutation,
} = deploymentsApi
