import { createAction, nanoid } from '@reduxjs/toolkit'
import type { WrongCodes } from '../contract/auth'

/** Facts that more than one layer needs. They are past tense, serialisable and free of secrets. */

export type Session = {
  /** Tells one session from another; no secret. */
  id: string
  isAdmin: boolean
  /** Who the token says that the user is: their id on our platform, perhaps their name on another. */
  subject?: string
  /** As people know the user, where the token says it. */
  username?: string
  /** Milliseconds since the epoch. */
  expiresAt: number
  /** What the server warned of when the user signed in. */
  wrongCodes?: WrongCodes | null
}

/** Why a session is over: the user left, the server said 401, its time was up, or another tab signed out. */
export type SessionEnd = 'signedOut' | 'refused' | 'expired' | 'gone'

export const sessionStarted = createAction<Session>('session/started')
export const sessionEnded = createAction<SessionEnd>('session/ended')
/** The server says whether this is an administrator, whatever the cookie says. */
export const adminLearned = createAction<boolean>('session/adminLearned')
/** A protected page was asked for without a session. The payload is its path and query. */
export const signInRequired = createAction<string>('session/signInRequired')

export const pageLoaded = createAction('page/loaded')
/** The tab came to the front again. */
export const pageShown = createAction('page/shown')
export const pageLeft = createAction('page/left')

export type Notification = { id: string; message: string; type: 'success' | 'danger' | 'warning' | 'info' }

/** What failed, for the problem log. `at` in milliseconds since the epoch. */
export type Problem = { id: string; at: number; what: string; reason: string }

/** `what` says what was tried and failed; `reason` is the server's, or the product's own. */
export const problemMet = createAction('problems/problemMet', (what: string, reason: string) => ({
  payload: { id: nanoid(), at: Date.now(), what, reason },
}))

export const notified = createAction('notifications/notified', (type: Notification['type'], message: string) => ({
  payload: { id: nanoid(), type, message },
}))
