import type { Middleware } from '@reduxjs/toolkit'
import { isAction } from '@reduxjs/toolkit'

/** Sanitizers for Redux DevTools. */
type Show = {
  action: (action: { type: string }) => { type: string }
  state: (state: Record<string, unknown>) => unknown
}
/** Receives actions, and the input events of fields. */
type Note = (at: number, action: { type: string } | Event) => void
type Call = { type: string; payload?: unknown; meta?: { arg?: { type?: string } } }

/**
 * Maximum number of waiting actions. If it is exceeded, only calls and session actions are kept, because the recorder
 * learns from them which values to hide.
 */
const LONGEST = 2000
const KEPT = /^(api|session)/

/**
 * Passes every action to the recorder, which redacts it. The recorder is loaded with the first page after sign-in
 * (record.ts). Until then, actions wait here in memory, without the responses of successful mutations. The arguments of
 * calls are kept, because the recorder learns from them which values to hide.
 */
export function createTape(now: () => number) {
  const waiting: [number, { type: string }][] = []
  let note: Note = (at, action) => {
    if (waiting.length < LONGEST || KEPT.test(action.type)) waiting.push([at, withoutResponse(action)])
  }
  // The recorder must learn typed secrets even if they are never sent.
  document.addEventListener('input', (event) => note(0, event), true)
  let show: Show = { action: ({ type }) => ({ type }), state: () => '' }
  const middleware: Middleware = () => (next) => (action) => {
    if (isAction(action)) note(now(), action)
    return next(action)
  }
  return {
    middleware,
    startedAt: now(),
    /** Sanitizers that redact what Redux DevTools show. The redaction rules are loaded with the recorder. */
    devTools: {
      actionSanitizer: <Action extends { type: string }>(action: Action) => show.action(action) as Action,
      stateSanitizer: <State>(state: State) => show.state(state as never) as State,
    },
    /** Passes all waiting and future actions to `recorder`. */
    handTo(recorder: Note, shown: Show) {
      note = recorder
      show = shown
      for (const [at, action] of waiting.splice(0)) note(at, action)
    },
  }
}

/** Keeps failures, because the recorder hides the secrets in them. */
const withoutResponse = (action: Call): Call =>
  action.meta?.arg?.type !== 'mutation' || action.type.endsWith('rejected') ? action : { ...action, payload: null }
