import type {
  Configuration,
  ConfigurationResponse,
  CreateDeployment,
  Deployment,
  DeploymentsResponse,
  SavedConfigurationResponse,
  Toggle,
} from '../../contract/deployment'
import type { Instance } from '../../contract/instance'
import type { NodesResponse } from '../../contract/network'
import { api } from './api'
import type { DataOf } from './transport/dataSchema'
import { dataSchema, listIn } from './transport/dataSchema'
import { changeUnlessFailed, updateOnSuccess } from './transport/cacheUpdates'

/** Restart and delete answer after the last instance has stopped, which may take minutes. */
const STOPPING_TIMEOUT_MS = 600_000
/** A restart may drain one instance after another. */
const RESTART_TIMEOUT_MS = 4 * 3_600_000

/**
 * Counts of a deployment's instances. A restart would interrupt the `active` ones. `onlyUid` is set if there is exactly
 * one instance.
 */
export type InstanceCounts = {
  total: number
  online: number
  active: number
  blocked: number
  players: number
  /** The players of some instances are unknown. */
  isPlayersPartial: boolean
  canDrain: boolean
  onlyUid?: string
}
/** `counts` is missing if the server does not support the parameter `instances`. */
export type ListedDeployment = Omit<Deployment, 'instances'> & { counts?: InstanceCounts }

/** `details`: all nodes of a cluster, if the server sends them. */
export type NetworkNodes = NodesResponse['data']
export type StoredConfiguration = Configuration & { warnings?: string[] }
/** `made.revision` is the stored revision. The text was stored despite the `warnings`. */
type Saved = { made: Pick<Configuration, 'revision'>; warnings: string[] }

const urlOf = (name: string) => `deployments/${encodeURIComponent(name)}`

export const deploymentsApi = api.injectEndpoints({
  endpoints: (build) => ({
    /** Stores counts only, so that changes of CPU usage cause no render and the store contains no player names. */
    getDeployments: build.query<ListedDeployment[], void>({
      query: () => 'deployments?instances=true',
      responseSchema: dataSchema(({ deployments }: DataOf<DeploymentsResponse>) =>
        listIn(deployments)?.map(({ instances, ...deployment }): ListedDeployment =>
          Array.isArray(instances) ? { ...deployment, counts: countsOf(instances) } : deployment,
        ),
      ),
      providesTags: ['Deployment'],
    }),

    getNodes: build.query<NetworkNodes, void>({
      query: () => 'network/nodes',
      responseSchema: dataSchema(
        ({ nodes, details }: DataOf<NodesResponse>) =>
          nodes && listIn(nodes) && { nodes, ...(Array.isArray(details) && { details }) },
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
        // Updates the cache before the refetch, so that the card of a deleted deployment cannot be clicked.
        await updateOnSuccess(queryFulfilled, () => dispatch(remove))
      },
      invalidatesTags: ['Deployment'],
    }),

    toggleDeployment: build.mutation<null, { name: string } & Toggle>({
      query: ({ name, enabled }) => ({ url: `${urlOf(name)}/toggle`, method: 'POST', body: { enabled } }),
      transformResponse: () => null,
      async onQueryStarted({ name, enabled }, { dispatch, queryFulfilled }) {
        const withDeployment = (change: (deployment: ListedDeployment) => void) =>
          dispatch(
            deploymentsApi.util.updateQueryData('getDeployments', undefined, (deployments) =>
              deployments.filter((deployment) => deployment.name === name).forEach(change),
            ),
          )
        await changeUnlessFailed(queryFulfilled, withDeployment, () => ({ enabled }))
      },
      invalidatesTags: ['Deployment'],
    }),

    restartDeployment: build.mutation<null, string>({
      query: (name) => ({ url: `${urlOf(name)}/restart`, method: 'POST', timeoutMs: RESTART_TIMEOUT_MS }),
      transformResponse: () => null,
      invalidatesTags: ['Deployment'],
    }),

    /** Only our platform sends a revision. */
    getDeploymentConfig: build.query<StoredConfiguration, string>({
      query: urlOf,
      responseSchema: dataSchema(({ content, revision, warnings }: DataOf<ConfigurationResponse>) =>
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

    /** With a revision, fails if another text is stored. Returns the new revision if the server sends it. */
    saveDeploymentConfig: build.mutation<Saved, { name: string } & Configuration>({
      query: ({ name, ...body }) => ({ url: urlOf(name), method: 'PATCH', body }),
      transformResponse: (response: Partial<SavedConfigurationResponse>) => {
        const { revision, warnings } = response.data ?? {}
        return { made: revision === undefined ? {} : { revision }, warnings: warnings ?? [] }
      },
      async onQueryStarted({ name, content }, { dispatch, queryFulfilled }) {
        // Updates the cache before the caller drops the draft: the editor must not show the old text in between.
        const keep = ({ made }: Saved) =>
          dispatch(deploymentsApi.util.updateQueryData('getDeploymentConfig', name, () => ({ content, ...made })))
        await updateOnSuccess(queryFulfilled, keep)
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

/** Counts of the instances of one deployment. */
export function countsOf(instances: Instance[]): InstanceCounts {
  const inState = (...states: Instance['state'][]) => instances.filter(({ state }) => states.includes(state)).length
  const [first] = instances
  return {
    total: instances.length,
    online: inState('RUNNING'),
    active: inState('STARTING', 'RUNNING', 'STOPPING'),
    blocked: inState('BLOCKED'),
    players: instances.reduce(
      (sum, { players = {}, playerCount = Object.keys(players).length }) => sum + (playerCount ?? 0),
      0,
    ),
    isPlayersPartial: instances.some(({ state, playerCount }) => state !== 'STOPPED' && playerCount === null),
    canDrain: instances.some(({ canDrain }) => canDrain === true),
    ...(first && instances.length === 1 && { onlyUid: first.uid }),
  }
}
