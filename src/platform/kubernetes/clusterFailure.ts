import type { ApiException } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import { AppError } from '../errors'

/** Logs a failed request, and converts it to an AppError for operators. @param role the ClusterRole of the accounts */
export function clusterFailure(error: unknown, namespace: string, role: string, log: Pick<Logger, 'warn'>): unknown {
  if (error instanceof AppError) return error
  const status = statusOf(error)
  // Without the response's body and headers, which may contain secrets.
  log.warn({ status, reason: reasonOf(error) }, 'a request to the Kubernetes cluster failed')
  if (status === undefined)
    return new AppError(
      'UNAVAILABLE',
      'The Kubernetes cluster does not answer. Check that it is running and that KUBECONFIG is correct.',
    )
  if (status === 401)
    return new AppError('UNAVAILABLE', 'The Kubernetes cluster rejects the credentials in KUBECONFIG. Renew them.')
  if (status === 403) {
    return new AppError(
      'UNAVAILABLE',
      `The Kubernetes cluster denies the request. Allow the platform’s account there to create, read and delete service accounts and cluster role bindings, create tokens, and bind the role "${role}".`,
    )
  }
  if (status === 404)
    return new AppError(
      'UNAVAILABLE',
      `The Kubernetes cluster has no namespace "${namespace}" or no ClusterRole "${role}". Create it, or correct the kubeconfig’s context or QUARTERDECK_DASHBOARD_ROLE.`,
    )
  if (status === 409)
    return new AppError(
      'CONFLICT',
      'The Kubernetes cluster already has this service account or its binding. Try again, or delete them in the cluster.',
    )
  return new AppError(
    'UNAVAILABLE',
    `The request to the Kubernetes cluster failed (status ${status}). See the platform’s log for the reason.`,
  )
}

/** The HTTP status of the cluster's response; undefined if it did not answer. */
export function statusOf(error: unknown): number | undefined {
  const code = error instanceof Error && 'body' in error ? (error as ApiException<unknown>).code : undefined
  return typeof code === 'number' ? code : undefined
}

/** Characters of a failure's body that are searched: a pattern throws a RangeError on a text of megabytes. */
const BODY_LENGTH = 10_000

/** The cluster's message (`Status.message`) or the connection error's. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { body } = error as Partial<ApiException<unknown>>
  const text =
    typeof body === 'string'
      ? (/"message":\s*"((?:[^"\\]|\\.)*)"/.exec(body.slice(0, BODY_LENGTH))?.[1] ?? '')
      : (body as { message?: string } | undefined)?.message
  return (text ?? error.message).slice(0, 500)
}
