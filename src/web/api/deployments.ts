import type {
  Configuration,
  ConfigurationAnswer,
  CreateDeployment,
  Deployment,
  DeploymentsAnswer,
  SavedConfigurationAnswer,
  Toggle,
} from '../../contract/deployment'
import type { NodesAnswer } from '../../contract/network'
import { api } from './api'
import type { DataOf } from './reading'
import { listIn, reading } from './reading'

/** Restarting and deleting answer when the last instance has stopped, and stopping may take its time. In milliseconds. */
const STOPPING_TIMEOUT_MS = 600_000
/** A restart may wait for the players of one instance after another to leave. In milliseconds. */
const RESTART_TIMEOUT_MS = 4 * 3_600_000

export type StoredConfiguration = Configuration & { warnings?: string[] }
/** `made` is the revision of the text as it is stored now. The text was stored in spite of `warnings`. */
type Saved = { made: Pick<Configuration, 'revision'>; warnings: string[] }

const urlOf = (name: string) => `deployments/${encodeURIComponent(name)}`

const deploymentsApi = api.injectEndpoints({
  endpoints: (build) => ({
    getDeployments: build.query<Deployment[], void>({
      queryFn: reading(
        () => 'deployments',
        ({ deployments }: DataOf<DeploymentsAnswer>) => listIn(deployments),
      ),
      providesTags: ['Deployment'],
    }),

    getNodes: build.query<string[], void>({
      queryFn: reading(
        () => 'network/nodes',
        ({ nodes }: DataOf<NodesAnswer>) => listIn(nodes),
      ),
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
        await queryFulfilled.then(
          () => dispatch(remove),
          () => {},
        )
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
      query: (name) => ({ url: `${urlOf(name)}/restart`, method: 'POST', timeoutMs: RESTART_TIMEOUT_MS }),
      transformResponse: () => null,
      invalidatesTags: ['Deployment'],
    }),

    /** Only our platform answers a revision. */
    getDeploymentConfig: build.query<StoredConfiguration, string>({
      queryFn: reading(urlOf, ({ content, revision, warnings }: DataOf<ConfigurationAnswer>) =>
        typeof content === 'string'
          ? {
              content,
              ...(revision !== undefined && { revision }),
              ...(warnings && warnings.length > 0 && { warnings }),
            }
          : undefined,
      ),
      providesTags: ['Deployment'],
    }),

    /** With a revision it fails where another text than that one's is stored by now. Answers the new one, if the server tells. */
    saveDeploymentConfig: build.mutation<Saved, { name: string } & Configuration>({
      query: ({ name, ...body }) => ({ url: urlOf(name), method: 'PATCH', body }),
      transformResponse: (answer: Partial<SavedConfigurationAnswer>) => {
        const { revision, warnings } = answer.data ?? {}
        return { made: revision === undefined ? {} : { revision }, warnings: warnings ?? [] }
      },
      async onQueryStarted({ name, content }, { dispatch, queryFulfilled }) {
        // The stored text is known before whoever waits for the save lets go of the draft: the editor never jumps back.
        const keep = ({ made }: Saved) =>
          dispatch(deploymentsApi.util.updateQueryData('getDeploymentConfig', name, () => ({ content, ...made })))
        await queryFulfilled.then(
          ({ data }) => keep(data),
          () => {},
        )
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
