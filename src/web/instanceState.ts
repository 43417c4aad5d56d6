import type { Instance, InstanceState } from '../contract/instance'

type Appearance = { name: string; tone: 'running' | 'changing' | 'blocked' | 'stopped' }

const appearances: Record<InstanceState, Appearance> = {
  STARTING: { name: 'Starting Up', tone: 'changing' },
  RUNNING: { name: 'Online', tone: 'running' },
  BLOCKED: { name: 'Blocked', tone: 'blocked' },
  STOPPING: { name: 'Shutting Down', tone: 'changing' },
  STOPPED: { name: 'Offline', tone: 'stopped' },
}

/** How a state is shown. A server may send what the contract does not know, and that is an error (product §3). */
export function appearanceOf(state: string): Appearance {
  if (!Object.hasOwn(appearances, state)) throw new Error(`Unknown instance state: ${state}`)
  return appearances[state as InstanceState]
}

/** How many play on an instance; null: it did not answer; undefined: it has no players. A server that tells no count is taken by the names it gives. */
export function playerCountOf({
  players,
  playerCount,
}: Pick<Instance, 'players' | 'playerCount'>): number | null | undefined {
  return players && (playerCount === undefined ? Object.keys(players).length : playerCount)
}

/** What is told in place of 'Offline' between two tries of an instance that ends by itself. */
export function retryText({ attempt, of }: NonNullable<Instance['retry']>, seconds: number): string {
  return `Restarting${seconds > 0 ? ` in ${seconds} s` : ''}, try ${attempt} of ${of}`
}
