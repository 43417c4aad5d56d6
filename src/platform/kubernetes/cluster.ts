import type { Logger } from 'pino'
import { z } from 'zod'
import { clusterFailure, statusOf } from './clusterFailure'
import { connectCluster, type ClusterConnection, type ClusterSource } from './clusterConnection'

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
  /** Timeout of an operation with all its requests, in milliseconds. */
  timeoutMs: number
  log: Pick<Logger, 'warn'>
}

/** The client library does not validate responses. */
const TokenResponse = z.object({ status: z.object({ token: z.string().min(1), expirationTimestamp: z.date() }) })

const labels = { 'app.kubernetes.io/managed-by': 'quarterdeck' }

/** Creates the operations on a cluster. Each opens a new connection. */
export function createCluster({ source, role, timeoutMs, log }: ClusterOptions): Cluster {
  async function withCluster<Result>(work: (connection: ClusterConnection) => Promise<Result>): Promise<Result> {
    const connection = await connectCluster(source, timeoutMs)
    try {
      return await Promise.race([work(connection), connection.expired])
    } catch (error) {
      throw clusterFailure(error, connection.namespace, role, log)
    }
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
        const response: unknown = await core.createNamespacedServiceAccountToken({ name, namespace, body })
        const issued = TokenResponse.safeParse(response)
        if (!issued.success) throw new Error('The Kubernetes cluster returned no token')
        const { token, expirationTimestamp } = issued.data.status
        return { token, expiresAt: expirationTimestamp }
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
