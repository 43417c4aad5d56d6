import { createAction, nanoid } from '@reduxjs/toolkit'
import type { WrongCodes } from '../contract/signIn/auth'

/** Actions that more than one layer needs. They are past tense, serialisable and free of secrets. */

export type Session = {
  /** Identifies the session. Not a secret. */
  id: string
  isAdmin: boolean
  /** The `sub` claim of the token: the user's id on our platform, possibly the username on another server. */
  subject?: string
  /** Missing if the token does not hold it. */
  username?: string
  /** Milliseconds since the epoch. */
  expiresAt: number
  /** Failed codes that the server reported at sign-in. */
  wrongCodes?: WrongCodes | null
}

/** Why a session is over: the user signed out, the server answered 401, it expired, or another tab signed out. */
export type SessionEnd = 'signedOut' | 'refused' | 'expired' | 'gone'

export const sessionStarted = createAction<Session>('session/started')
export const sessionEnded = createAction<SessionEnd>('session/ended')
/** The role that the server reports. Overrides the cookie. */
export const roleChanged = createAction<boolean>('session/adminLearned')
/** A protected page was opened without a session. The payload is its path and query. */
export const signInRequired = createAction<string>('session/signInRequired')

export const pageLoaded = createAction('page/loaded')
/** The tab became visible again. */
export const pageShown = createAction('page/shown')
export const pageLeft = createAction('page/left')

export type Notification = { id: string; message: string; type: 'success' | 'danger' | 'warning' | 'info' }

/** An entry of the problem log. `at` is in milliseconds since the epoch. */
export type Problem = { id: string; at: number; what: string; reason: string }

/** `what` is the action that failed; `reason` is the server's text, or the product's own. */
export const problemLogged = createAction('problems/problemMet', (what: string, reason: string) => ({
  payload: { id: nanoid(), at: Date.now(), what, reason },
}))

export const notified = createAction('notifications/notified', (type: Notification['type'], message: string) => ({
  payload: { id: nanoid(), type, message },
}))
