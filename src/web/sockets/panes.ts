import type { Action, Reducer } from '@reduxjs/toolkit'
import { sessionEnded } from '../facts'

/** The consoles of the page that shows several side by side. Each has a connection of its own. */
export const PANES = [1, 2, 3, 4] as const
export type Pane = (typeof PANES)[number]
export type Panes<State> = { [pane in Pane]?: State }

/** Returns an action about the console in a pane. Without a pane it is about the console of the instance page. */
export const inPane = <A extends Action>(action: A, pane: Pane | undefined): A =>
  pane === undefined ? action : { ...action, meta: { ...(action as { meta?: object }).meta, pane } }

/** Returns the pane that an action is about. Checked, because a replayed file may contain anything. */
export function paneOf(action: Action): Pane | undefined {
  const { pane } = ((action as { meta?: unknown }).meta ?? {}) as { pane?: unknown }
  return PANES.find((known) => known === pane)
}

/** Wraps the reducer of the instance page's state: ignores actions about panes. */
export const outsidePanes =
  <State>(reducer: Reducer<State>): Reducer<State> =>
  (state, action) =>
    state !== undefined && paneOf(action) !== undefined ? state : reducer(state, action)

/**
 * Wraps a reducer for the panes' states. A pane has a state from the action that `opens` it to the one that `leaves`
 * it.
 */
export const insidePanes =
  <State>(
    reducer: Reducer<State>,
    opens: (action: Action) => boolean,
    leaves: (action: Action) => boolean,
  ): Reducer<Panes<State>> =>
  (panes = {}, action) => {
    const pane = paneOf(action)
    if (pane === undefined) return sessionEnded.match(action) && Object.keys(panes).length > 0 ? {} : panes
    if (panes[pane] === undefined && !opens(action)) return panes
    if (leaves(action)) {
      const { [pane]: _left, ...others } = panes
      return others
    }
    const state = reducer(panes[pane], action)
    return state === panes[pane] ? panes : { ...panes, [pane]: state }
  }
