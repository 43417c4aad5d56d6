import { delimiter } from 'node:path'
import type { ApiException, CoreV1Api, KubeConfig, RbacAuthorizationV1Api } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import { AppError } from '../errors'

/** Kubeconfig files in the format of KUBECONFIG, or the cluster that the platform runs in. */
export type ClusterSource = { kubeconfig: string } | 'own'

/** The operations that the dashboard needs. Each throws AppError UNAVAILABLE within the timeout when it fails. */
export interface Cluster {
  /** Creates a service account with a binding to the role. @throws AppError CONFLICT if it exists */
  createAccount(name: string): Promise<void>
  /** Issues a token of the account (TokenRequest). The cluster may shorten its lifetime. */
  issueToken(name: string, seconds: number): Promise<{ token: string; expiresAt: Date }>
  /** Removes the account and its binding, if they exist and are ours. This revokes its tokens. */
  removeAccount(name: string): Promise<void>
}

export interface ClusterOptions {
  source: ClusterSource
  /** The ClusterRole of the accounts. */
  role: string
  /** For one operation with all its requests. */
  timeoutMs: number
  log: Pick<Logger, 'warn'>
}

/** The default if neither the kubeconfig nor the pod specifies one. */
const NAMESPACE = 'quarterdeck'
const labels = { 'app.kubernetes.io/managed-by': 'quarterdeck' }

interface Apis {
  core: CoreV1Api
  rbac: RbacAuthorizationV1Api
  namespace: string
}

/** The client library is loaded on first use. Each operation reads the configuration, which may be renewed. */
export function createCluster({ source, role, timeoutMs, log }: ClusterOptions): Cluster {
  async function connect(): Promise<Apis> {
    const client = await import('@kubernetes/client-node')
    const config = new client.KubeConfig()
    try {
      read(config, source, () => new client.KubeConfig())
    } catch {
      throw new AppError(
        'UNAVAILABLE',
        'The configuration of the Kubernetes cluster cannot be read: check the file that KUBECONFIG names.',
      )
    }
    const server = config.getCurrentCluster()?.server
    if (server === undefined)
      throw new AppError(
        'UNAVAILABLE',
        'The file that KUBECONFIG names has no current context: choose one with kubectl config use-context.',
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
    return {
      core: new client.CoreV1Api(configuration),
      rbac: new client.RbacAuthorizationV1Api(configuration),
      namespace,
    }
  }

  async function withCluster<Result>(work: (apis: Apis) => Promise<Result>): Promise<Result> {
    const apis = await connect()
    try {
      return await work(apis)
    } catch (error) {
      throw failureOf(error, apis.namespace)
    }
  }

  function failureOf(error: unknown, namespace: string): unknown {
    if (error instanceof AppError) return error
    const status = statusOf(error)
    // Without the response's body and headers, which may contain secrets.
    log.warn({ status, reason: reasonOf(error) }, 'the Kubernetes cluster refused or did not answer')
    if (status === undefined)
      return new AppError(
        'UNAVAILABLE',
        'The Kubernetes cluster does not answer. Check that it runs and that KUBECONFIG leads to it.',
      )
    if (status === 401)
      return new AppError(
        'UNAVAILABLE',
        'The Kubernetes cluster does not know the account of KUBECONFIG: renew its credentials.',
      )
    if (status === 403) {
      return new AppError(
        'UNAVAILABLE',
        `The Kubernetes cluster does not allow it: the platform’s account there must create, read and delete service accounts and cluster role bindings, create tokens, and bind the role "${role}".`,
      )
    }
    if (status === 404)
      return new AppError(
        'UNAVAILABLE',
        `The Kubernetes cluster has no namespace "${namespace}" or no ClusterRole "${role}": create it, or correct the kubeconfig’s context or QUARTERDECK_DASHBOARD_ROLE.`,
      )
    if (status === 409)
      return new AppError(
        'CONFLICT',
        'The Kubernetes cluster has this service account or its binding already. Try again, or remove them there.',
      )
    return new AppError(
      'UNAVAILABLE',
      `The Kubernetes cluster could not do it (status ${status}). The platform’s log knows more.`,
    )
  }

  return {
    createAccount: (name) =>
      withCluster(async ({ core, rbac, namespace }) => {
        await core.createNamespacedServiceAccount({
          namespace,
          body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels } },
        })
        await rbac.createClusterRoleBinding({
          body: {
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'ClusterRoleBinding',
            metadata: { name, labels },
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
            subjects: [{ kind: 'ServiceAccount', name, namespace }],
          },
        })
      }),

    issueToken: (name, seconds) =>
      withCluster(async ({ core, namespace }) => {
        const body = {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { audiences: [], expirationSeconds: seconds },
        }
        const { status } = await core.createNamespacedServiceAccountToken({ name, namespace, body })
        if (!status) throw new Error('The cluster issued no token')
        return { token: status.token, expiresAt: new Date(status.expirationTimestamp) }
      }),

    removeAccount: (name) =>
      withCluster(async ({ core, rbac, namespace }) => {
        const binding = await ignoreNotFound(rbac.readClusterRoleBinding({ name }))
        if (isOurs(binding)) await ignoreNotFound(rbac.deleteClusterRoleBinding({ name }))
        const account = await ignoreNotFound(core.readNamespacedServiceAccount({ name, namespace }))
        if (isOurs(account)) await ignoreNotFound(core.deleteNamespacedServiceAccount({ name, namespace }))
      }),
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

/** Converts a 404 to undefined, because what is missing need not be removed. */
async function ignoreNotFound<Thing>(request: Promise<Thing>): Promise<Thing | undefined> {
  return request.catch((error: unknown) => {
    if (statusOf(error) === 404) return undefined
    throw error
  })
}

function isOurs(thing: { metadata?: { labels?: Record<string, string> } } | undefined): boolean {
  return thing?.metadata?.labels?.['app.kubernetes.io/managed-by'] === 'quarterdeck'
}

function statusOf(error: unknown): number | undefined {
  const code = error instanceof Error && 'body' in error ? (error as ApiException<unknown>).code : undefined
  return typeof code === 'number' ? code : undefined
}

/** The cluster's message (`Status.message`) or the connection error's. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { body } = error as Partial<ApiException<unknown>>
  const text =
    typeof body === 'string'
      ? (/"message":\s*"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? '')
      : (body as { message?: string } | undefined)?.message
  return (text ?? error.message).slice(0, 500)
}
