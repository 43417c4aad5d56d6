import type { Right } from '../../contract/access'
import { accountApi } from './account'

/**
 * What the signed-in user may do (decisions §16). The server decides; the console only does not offer what it refuses.
 */
export interface OwnAccess {
  /** Whether they see only the deployments that they were granted. */
  isLimited: boolean
  /** Whether they have a right on a deployment. Until it is known, they have. */
  may: (right: Right, deployment: string) => boolean
}

/** Layout loads it once. */
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
