import { delimiter } from 'node:path'
import type { CoreV1Api, KubeConfig, RbacAuthorizationV1Api } from '@kubernetes/client-node'
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

/**
 * Connects to a cluster for one operation. The client library is loaded on first use. The configuration is read each
 * time, because it may be renewed.
 * @param timeoutMs for all requests of the connection
 * @throws AppError UNAVAILABLE when the configuration cannot be read or names no cluster
 */
export async function connectCluster(source: ClusterSource, timeoutMs: number): Promise<ClusterConnection> {
  const client = await import('@kubernetes/client-node')
  const config = new client.KubeConfig()
  try {
    read(config, source, () => new client.KubeConfig())
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
  // One deadline for all requests of an operation.
  const signal = AbortSignal.timeout(timeoutMs)
  const configuration = client.createConfiguration({
    baseServer: new client.ServerConfiguration(server.replace(/\/$/, ''), {}),
    authMethods: { default: config },
    promiseMiddleware: [
      { pre: async (request) => (request.setSignal(signal), request), post: async (response) => response },
    ],
  })
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace?.trim() || NAMESPACE
  const expired = new Promise<never>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(new Error('The time for the operation is up'))),
  )
  return {
    core: new client.CoreV1Api(configuration),
    rbac: new client.RbacAuthorizationV1Api(configuration),
    namespace,
    expired,
  }
}

function read(config: KubeConfig, source: ClusterSource, another: () => KubeConfig): void {
  if (source === 'own') return config.loadFromCluster()
  const [first = '', ...others] = source.kubeconfig.split(delimiter).filter(Boolean)
  config.loadFromFile(first)
  for (const file of others) {
    const next = another()
    next.loadFromFile(file)
    config.mergeConfig(next)
  }
}
