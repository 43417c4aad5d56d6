import type { Middleware } from '@reduxjs/toolkit'
import { isAction } from '@reduxjs/toolkit'

/** As Redux DevTools show it. */
type Show = {
  action: (action: { type: string }) => { type: string }
  state: (state: Record<string, unknown>) => unknown
}
type Note = (at: number, action: { type: string }) => void
type Call = { type: string; payload?: unknown; meta?: { arg?: { type?: string } } }

/** Nobody does so much before signing in. Beyond it calls and the session are kept: the recorder learns from them what to hide. */
const LONGEST = 2000
const KEPT = /^(api|session)/

/**
 * Hands every action that reaches the reducers to the recorder. That one knows what has to be redacted, and comes with
 * the first page after sign-in (record.ts): until then actions wait here in memory, without the answers of calls that
 * succeeded. What calls sent is kept, because the recorder learns from it what to hide in console output.
 */
export function createTape(now: () => number) {
  const waiting: [number, { type: string }][] = []
  let note: Note = (at, action) => {
    if (waiting.length < LONGEST || KEPT.test(action.type)) waiting.push([at, withoutAnswer(action)])
  }
  let show: Show = { action: ({ type }) => ({ type }), state: () => '' }
  const middleware: Middleware = () => (next) => (action) => {
    if (isAction(action)) note(now(), action)
    return next(action)
  }
  return {
    middleware,
    startedAt: now(),
    /** What Redux DevTools may see follows the same rules, which come with the recorder. */
    devTools: {
      actionSanitizer: <Action extends { type: string }>(action: Action) => show.action(action) as Action,
      stateSanitizer: <State>(state: State) => show.state(state as never) as State,
    },
    /** Everything from the start on goes to `recorder`. */
    handTo(recorder: Note, shown: Show) {
      note = recorder
      show = shown
      for (const [at, action] of waiting.splice(0)) note(at, action)
    },
  }
}

/** A failure stays: the recorder hides what it quotes. */
const withoutAnswer = (action: Call): Call =>
  action.meta?.arg?.type !== 'mutation' || action.type.endsWith('rejected') ? action : { ...action, payload: null }
