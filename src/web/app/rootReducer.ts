import { combineSlices } from '@reduxjs/toolkit'
import { api } from '../api/api'
import { loginSlice } from '../features/auth/loginSlice'
import { sessionSlice } from '../features/auth/sessionSlice'
import { notificationsSlice } from '../features/notifications/notificationsSlice'
import { realtimeSlice } from '../sockets/realtimeSlice'
import { routeSlice } from './routing/routeSlice'
import { themeSlice } from './themeSlice'

/** The state of injected slices. Each file that injects one adds it here (`declare module`). */
export interface LazySlices {}

/**
 * Holds the slices of the login page. All others are injected when their file is loaded, and appear in the state with
 * the next action; until then their selectors return the initial state.
 */
export const rootReducer = combineSlices(
  api,
  loginSlice,
  notificationsSlice,
  realtimeSlice,
  routeSlice,
  sessionSlice,
  themeSlice,
).withLazyLoadedSlices<LazySlices>()
