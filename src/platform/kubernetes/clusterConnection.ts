import type { Agent } from 'node:http'
import { delimiter } from 'node:path'
import type * as Client from '@kubernetes/client-node'
import type { Configuration, CoreV1Api, KubeConfig, RbacAuthorizationV1Api } from '@kubernetes/client-node'
import { AppError } from '../errors'

/** Kubeconfig files in the format of KUBECONFIG, or the cluster that the platform runs in. */
export type ClusterSource = { kubeconfig: string } | 'own'

/** The default if neither the kubeconfig nor the pod specifies one. */
const NAMESPACE = 'quarterdeck'

export interface ClusterConnection {
  core: CoreV1Api
  rbac: RbacAuthorizationV1Api
  namespace: string
  /** Rejects when the time is up. It also bounds a credential plugin of the kubeconfig, which no signal ends. */
  expired: Promise<never>
}

/** The cluster's configuration and the client library. */
export interface ClusterConfig {
  client: typeof Client
  config: KubeConfig
  /** The address of the API server, without a trailing slash. */
  server: string
  /** The namespace of the configuration's context; undefined if it names none. */
  namespace: string | undefined
}

/**
 * Reads a cluster's configuration. The client library is loaded on first use.
 * @throws AppError UNAVAILABLE when the configuration cannot be read or names no cluster
 */
export async function readClusterConfig(source: ClusterSource): Promise<ClusterConfig> {
  const client = await import('@kubernetes/client-node')
  const config = new client.KubeConfig()
  try {
    loadConfig(config, source, () => new client.KubeConfig())
  } catch {
    throw new AppError(
      'UNAVAILABLE',
      'The configuration of the Kubernetes cluster cannot be read. Check the file in KUBECONFIG.',
    )
  }
  const server = config.getCurrentCluster()?.server
  if (server === undefined)
    throw new AppError(
      'UNAVAILABLE',
      'The file in KUBECONFIG has no current context. Choose one with kubectl config use-context.',
    )
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace?.trim()
  return { client, config, server: server.replace(/\/$/, ''), namespace: namespace || undefined }
}

/**
 * Connects to a cluster for one operation. The configuration is read each time, because it may be renewed.
 * @param timeoutMs for all requests of the connection
 * @throws AppError UNAVAILABLE as `readClusterConfig`
 */
export async function connectCluster(source: ClusterSource, timeoutMs: number): Promise<ClusterConnection> {
  const cluster = await readClusterConfig(source)
  const { configuration, expired } = withDeadline(cluster, timeoutMs)
  return {
    core: new cluster.client.CoreV1Api(configuration),
    rbac: new cluster.client.RbacAuthorizationV1Api(configuration),
    namespace: cluster.namespace ?? NAMESPACE,
    expired,
  }
}

/**
 * Creates a configuration of the library's APIs with one deadline for all requests.
 * @param timeoutMs counted from this call
 * @param agentFor returns the agent to use in place of the library's
 */
export function withDeadline(
  { client, config, server }: ClusterConfig,
  timeoutMs: number,
  agentFor: (agent: Agent | undefined) => Agent | undefined = (agent) => agent,
): { configuration: Configuration; expired: Promise<never> } {
  const signal = AbortSignal.timeout(timeoutMs)
  const configuration = client.createConfiguration({
    baseServer: new client.ServerConfiguration(server, {}),
    authMethods: { default: config },
    promiseMiddleware: [
      {
        pre: async (request) => {
          request.setSignal(signal)
          const agent = agentFor(request.getAgent())
          if (agent) request.setAgent(agent)
          return request
        },
        post: async (response) => response,
      },
    ],
  })
  const expired = new Promise<never>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(new Error('The operation timed out'))),
  )
  // A caller that fails before it awaits this promise must not end the process.
  expired.catch(() => undefined)
  return { configuration, expired }
}

/** Several files are merged, as kubectl does. */
function loadConfig(config: KubeConfig, source: ClusterSource, createConfig: () => KubeConfig): void {
  if (source === 'own') return config.loadFromCluster()
  const [first = '', ...others] = source.kubeconfig.split(delimiter).filter(Boolean)
  config.loadFromFile(first)
  for (const file of others) {
    const next = createConfig()
    next.loadFromFile(file)
    config.mergeConfig(next)
  }
}
