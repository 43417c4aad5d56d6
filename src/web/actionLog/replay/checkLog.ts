import type { ActionLog } from '../../../contract/actionLog'
import type { Difference } from './diff'
import { differences } from './diff'
import { costOfHashes, hashOf } from './hash'
import { LogFault } from './readLog'
import type { RootReducer, State, Step } from './steps'
import { complete, takeStep } from './steps'

/** A step whose state changes differ from the recording. */
export type Deviation = {
  /** Index of the action, from 0. */
  index: number
  /** The slices that differ. */
  parts: string[]
  /** The changes that the action makes in this replay. */
  changes: Difference[]
  thrown?: string
}

export type Replay = {
  base: State
  steps: Step[]
  deviations: Deviation[]
  /** Differences between the recorded and the replayed final state. */
  final: Difference[]
}

/**
 * Limit of the work of a replay, some ten seconds: in a forged log each action may change millions of values. A log
 * that is full of polls takes a tenth of it.
 */
const MAX_COST = 2_000_000_000

/**
 * Applies all actions up to and including `until`, and compares each step with the recording.
 * @throws LogFault if that takes too long
 */
export function replayLog(
  { base: recorded, actions, final }: ActionLog,
  reducer: RootReducer,
  until = actions.length - 1,
): Replay {
  // Ignore slices that are not in the log, because a newer console added them.
  const isKnown = (part: string) => part in final
  const base = complete(reducer, recorded)
  const steps: Step[] = []
  const deviations: Deviation[] = []
  let state = base
  const costBefore = costOfHashes()
  for (const [index, action] of actions.slice(0, until + 1).entries()) {
    if (costOfHashes() - costBefore > MAX_COST)
      throw new LogFault(
        `The file is damaged: the states before action ${index + 1} are too large to be compared with each other.`,
      )
    const step = takeStep(reducer, state, action)
    steps.push(step)
    const parts = [...new Set([...Object.keys(action.changed), ...Object.keys(step.changed)])].filter(
      (part) => isKnown(part) && action.changed[part] !== step.changed[part],
    )
    if (parts.length > 0) {
      const changes = parts.flatMap((part) => differences({ [part]: state[part] }, { [part]: step.state[part] }, 10))
      deviations.push({ index, parts, changes, ...(step.thrown !== undefined && { thrown: step.thrown }) })
    }
    state = step.state
  }
  const isWhole = steps.length === actions.length
  const differing = isWhole ? Object.keys(final).filter((part) => hashOf(final[part]) !== hashOf(state[part])) : []
  return {
    base,
    steps,
    deviations,
    final: differing.flatMap((part) => differences({ [part]: final[part] }, { [part]: state[part] })),
  }
}
