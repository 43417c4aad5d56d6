import type { InstanceCounts } from '../api/deployments'
import { deploymentsApi, useRestartDeploymentMutation, useToggleDeploymentMutation } from '../api/deployments'
import { reportResult } from '../api/reportProblem'
import type { AppThunk } from '../app/types'
import { counted } from '../ui/counted'
import type { Interruption } from './interruptionSlice'

// One key per deployment, so that all pages show the state of the call, which outlives them.
const restartKey = (name: string) => `restart ${name}`
const toggleKey = (name: string) => `toggle ${name}`

/** Restarts a deployment, unless it is being restarted, and reports the result. */
export const restartDeployment =
  (name: string): AppThunk<Promise<void>> =>
  async (dispatch, getState) => {
    const { restartDeployment: endpoint } = deploymentsApi.endpoints
    const fixedCacheKey = restartKey(name)
    if (endpoint.select({ fixedCacheKey, requestId: undefined })(getState()).isLoading) return
    const result = await dispatch(endpoint.initiate(name, { fixedCacheKey }))
    dispatch(reportResult(result, `Successfully restarted ${name}`, `Failed to restart ${name}`))
  }

/** Enables or disables a deployment, unless it is being changed, and reports the result. */
export const toggleDeployment =
  (name: string, enabled: boolean): AppThunk<Promise<void>> =>
  async (dispatch, getState) => {
    const { toggleDeployment: endpoint } = deploymentsApi.endpoints
    const fixedCacheKey = toggleKey(name)
    if (endpoint.select({ fixedCacheKey, requestId: undefined })(getState()).isLoading) return
    const result = await dispatch(endpoint.initiate({ name, enabled }, { fixedCacheKey }))
    const success = `Successfully ${enabled ? 'enabled' : 'disabled'} ${name}`
    dispatch(reportResult(result, success, `Failed to toggle ${name}`))
  }

/** Restarts or disables a deployment, which interrupts its instances. */
export const changeDeployment = ({ name, change }: Interruption): AppThunk<Promise<void>> =>
  change === 'restart' ? restartDeployment(name) : toggleDeployment(name, false)

export const useIsRestarting = (name: string) =>
  useRestartDeploymentMutation({ fixedCacheKey: restartKey(name) })[1].isLoading

export const useIsToggling = (name: string) =>
  useToggleDeploymentMutation({ fixedCacheKey: toggleKey(name) })[1].isLoading

/** The question before a restart or a disabling that interrupts instances of a deployment. */
export function interruptionQuestion(
  { name, change }: Interruption,
  { active, players, isPlayersPartial, canDrain }: InstanceCounts,
): string {
  const instances = counted(active, 'instance')
  const question =
    change === 'restart'
      ? `Restart ${instances} of ${name}?`
      : `Disable ${name}? ${active === 1 ? 'Its instance is' : `Its ${instances} are`} stopped.`
  if (players === 0 && !isPlayersPartial) return question
  const isOne = players === 1 && !isPlayersPartial
  const online = isOne ? '1 player is online' : `${players}${isPlayersPartial ? ' or more' : ''} players are online`
  // Only a restart drains (decisions §14).
  if (change === 'restart' && canDrain) return `${question} ${online}; each instance is drained before it stops.`
  return `${question} ${online}; ${isOne ? 'this player is' : 'they are'} disconnected.`
}
