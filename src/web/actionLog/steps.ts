import type { Reducer, UnknownAction } from '@reduxjs/toolkit'
import { hashOf } from './hash'
import { unpackLines } from './lines'
import type { PlainAction } from './redactAction'

export type State = Record<string, unknown>
export type Step = {
  state: State
  /** The parts of the state that became something else, each with its hash. */
  changed: Record<string, string>
  /** What a reducer threw. The state is then as it was before. */
  thrown?: string
}

/** The reducers of the whole console, taking states that may lack parts. */
export type RootReducer = Reducer<State>

/** What was written down of an action, as reducers take it. */
export function actionOf({ type, payload, meta, error }: PlainAction): UnknownAction {
  const unpacked =
    type === 'console/linesReceived' && Array.isArray(payload) ? unpackLines(payload as (string | number)[]) : payload
  return {
    type,
    ...(payload !== undefined && { payload: unpacked }),
    ...(meta !== undefined && { meta }),
    ...(error !== undefined && { error }),
  }
}

/** The state before the first action, with every part that this build knows. */
export const complete = (reducer: RootReducer, base: State): State => ({
  ...base,
  ...reducer(base, { type: 'actionLog/begun' }),
})

export function takeStep(reducer: RootReducer, state: State, action: PlainAction): Step {
  let next: State
  try {
    next = reducer(state, actionOf(action))
  } catch (error) {
    return { state, changed: {}, thrown: error instanceof Error ? error.message : String(error) }
  }
  const changed: Record<string, string> = {}
  for (const name of Object.keys(next)) {
    if (next[name] === state[name]) continue
    const hash = hashOf(next[name])
    if (hash !== hashOf(state[name])) changed[name] = hash
  }
  return { state: next, changed }
}
