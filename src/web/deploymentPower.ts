import type { InstanceCounts } from './api/deployments'
import { useRestartDeploymentMutation, useToggleDeploymentMutation } from './api/deployments'
import { useReportResult } from './api/useReportResult'
import { counted } from './ui/counted'
import { useOneAtATime } from './ui/useOneAtATime'

/** Restarts a deployment. All users of this hook share the state of the call, which outlives them. */
export function useRestart(name: string) {
  const [call, { isLoading }] = useRestartDeploymentMutation({ fixedCacheKey: `restart ${name}` })
  const report = useReportResult()
  const restart = useOneAtATime(async () => {
    if (!isLoading) report(await call(name), `Successfully restarted ${name}`, `Failed to restart ${name}`)
  })
  return { restart, isRestarting: isLoading }
}

/** Enables or disables a deployment. All users of this hook share the state of the call. */
export function useToggle(name: string) {
  const [call, { isLoading }] = useToggleDeploymentMutation({ fixedCacheKey: `toggle ${name}` })
  const report = useReportResult()
  const toggle = useOneAtATime(async (enabled: boolean) => {
    if (isLoading) return
    const result = await call({ name, enabled })
    report(result, `Successfully ${enabled ? 'enabled' : 'disabled'} ${name}`, `Failed to toggle ${name}`)
  })
  return { toggle, isToggling: isLoading }
}

/** What a user is asked before a restart or a disabling interrupts instances of a deployment. */
export function interruptionQuestion(
  change: 'restart' | 'disable',
  name: string,
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
