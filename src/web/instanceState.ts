import type { Instance, InstanceState } from '../contract/instance'

type Appearance = { name: string; tone: 'running' | 'changing' | 'blocked' | 'stopped' }

const appearances: Record<InstanceState, Appearance> = {
  STARTING: { name: 'Starting Up', tone: 'changing' },
  RUNNING: { name: 'Online', tone: 'running' },
  BLOCKED: { name: 'Blocked', tone: 'blocked' },
  STOPPING: { name: 'Shutting Down', tone: 'changing' },
  STOPPED: { name: 'Offline', tone: 'stopped' },
}

/** A server may report a state that the contract does not know. */
export const isKnownState = (state: string): state is InstanceState => Object.hasOwn(appearances, state)

/** Returns how a state is shown. @throws for a state that the contract does not know, which is an error (product §3) */
export function appearanceOf(state: string): Appearance {
  if (!isKnownState(state)) throw new Error(`Unknown instance state: ${state}`)
  return appearances[state]
}

/** As `appearanceOf`. A state that the contract does not know is shown by the server's word for it. */
export const appearanceOfAny = (state: string): Appearance =>
  isKnownState(state) ? appearances[state] : { name: state, tone: 'blocked' }

/** Returns the number of players: null if unknown, undefined for no players. Without a count, names are counted. */
export function playerCountOf({
  players,
  playerCount,
}: Pick<Instance, 'players' | 'playerCount'>): number | null | undefined {
  return players && (playerCount === undefined ? Object.keys(players).length : playerCount)
}

/** Shown instead of 'Offline' between restarts of an instance that crashed. */
export function retryText({ attempt, of }: NonNullable<Instance['retry']>, seconds: number): string {
  return `Restarting${seconds > 0 ? ` in ${seconds} s` : ''}, try ${attempt} of ${of}`
}
