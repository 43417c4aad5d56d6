import type { Right } from '../../contract/access'
import { accountApi } from './account'

/** What the signed-in user may do (decisions §16). The server decides; the console only hides what it would refuse. */
export interface OwnAccess {
  /** Whether the user sees only deployments that were granted to them. */
  isLimited: boolean
  /** Whether the user has a right on a deployment; true until the rights are loaded. */
  may: (right: Right, deployment: string) => boolean
}

/** Reads the cached query, which Layout loads once. */
export function useAccess(): OwnAccess {
  const { data } = accountApi.endpoints.getAccount.useQueryState()
  const isLimited = data?.role === 'limited'
  return {
    isLimited,
    may: (right, deployment) =>
      !isLimited || data.grants.some((grant) => grant.deployment === deployment && grant.rights.includes(right)),
  }
}

/** Why a control cannot be used. */
export const missingRight = (right: Right) => `You do not have the right “${right}” on this deployment`
