import type { ApiException } from '@kubernetes/client-node'
import type { Logger } from 'pino'
import { AppError } from '../errors'

/** Logs a failed request, and converts it to an AppError for operators. @param role the ClusterRole of the accounts */
export function failureOf(error: unknown, namespace: string, role: string, log: Pick<Logger, 'warn'>): unknown {
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

/** The HTTP status of the cluster's answer; undefined if it did not answer. */
export function statusOf(error: unknown): number | undefined {
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
