import type { Reducer, UnknownAction } from '@reduxjs/toolkit'
import { hashOf } from './hash'
import { unpackLines } from '../record/packedLines'
import type { PlainAction } from '../redact/redactAction'

export type State = Record<string, unknown>
/** Redacted actions with their times in milliseconds since the epoch, and the state before the first action. */
export type Recording = { startedAt: number; base: State; actions: (PlainAction & { at: number })[] }
export type Step = {
  state: State
  /** The slices that changed, each with the hash of its new state. */
  changed: Record<string, string>
  /** The message of an error that a reducer threw. The state is then unchanged. */
  thrown?: string
}

/** The root reducer of the console. It accepts states with missing slices. */
export type RootReducer = Reducer<State>

/** Converts a recorded action into one that the reducers accept. */
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

/** Adds the slices of this build that are missing in a recorded base state. */
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
