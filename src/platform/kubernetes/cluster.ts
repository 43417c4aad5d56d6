import { delimiter } from 'node:path'
import type { ApiException, CoreV1Api, KubeConfig, RbacAuthorizationV1Api } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import { AppError } from '../errors'

/** Where the cluster is: files of kubeconfig as KUBECONFIG names them, or the one that the platform itself runs in. */
export type ClusterSource = { kubeconfig: string } | 'own'

/** What the dashboard needs of a cluster. Everything throws AppError UNAVAILABLE in time when it cannot be done. */
export interface Cluster {
  /** Makes a service account that is bound to the role. @throws AppError CONFLICT when there is one already */
  createAccount(name: string): Promise<void>
  /** A token of the account (TokenRequest); the cluster may shorten its life. */
  issueToken(name: string, seconds: number): Promise<{ token: string; expiresAt: Date }>
  /** Removes the account with its binding, as far as they are there and were made here. Its tokens end with it. */
  removeAccount(name: string): Promise<void>
}

export interface ClusterOptions {
  source: ClusterSource
  /** The ClusterRole that accounts are bound to. */
  role: string
  /** Of one operation with all its requests. In milliseconds. */
  timeoutMs: number
  log: Pick<Logger, 'warn'>
}

/** Where neither the kubeconfig nor the pod says it. */
const NAMESPACE = 'quarterdeck'
const labels = { 'app.kubernetes.io/managed-by': 'quarterdeck' }

interface Apis {
  core: CoreV1Api
  rbac: RbacAuthorizationV1Api
  namespace: string
}

/** The client is loaded with the first operation, and the configuration is read with each: it may be renewed at any time. */
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

  async function operate<Result>(work: (apis: Apis) => Promise<Result>): Promise<Result> {
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
    // Without the answer's body and headers, which are nobody's business.
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
      operate(async ({ core, rbac, namespace }) => {
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
      operate(async ({ core, namespace }) => {
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
      operate(async ({ core, rbac, namespace }) => {
        const binding = await orGone(rbac.readClusterRoleBinding({ name }))
        if (isOurs(binding)) await orGone(rbac.deleteClusterRoleBinding({ name }))
        const account = await orGone(core.readNamespacedServiceAccount({ name, namespace }))
        if (isOurs(account)) await orGone(core.deleteNamespacedServiceAccount({ name, namespace }))
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

/** What is not there need not be removed. */
async function orGone<Thing>(request: Promise<Thing>): Promise<Thing | undefined> {
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

/** The cluster's own words where it has some (`Status.message`), else those of the connection. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { body } = error as Partial<ApiException<unknown>>
  const text =
    typeof body === 'string'
      ? (/"message":\s*"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? '')
      : (body as { message?: string } | undefined)?.message
  return (text ?? error.message).slice(0, 500)
}
