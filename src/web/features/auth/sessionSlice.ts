import { createSlice } from '@reduxjs/toolkit'
import type { Session, SessionEnd } from '../../facts'
import { roleChanged, sessionEnded, sessionStarted, signInRequired } from '../../facts'
import { safeOrigin } from '../../../contract/signIn/safeOrigin'

type SessionState = {
  current: Session | null
  /** Path and query of the page to open after sign-in. */
  origin: string | null
  ended: SessionEnd | null
}

const initialState: SessionState = { current: null, origin: null, ended: null }

export const sessionSlice = createSlice({
  name: 'session',
  initialState,
  reducers: {},
  extraReducers: (builder) => {
    builder
      .addCase(sessionStarted, (state, { payload }) => {
        state.current = payload
        state.ended = null
      })
      .addCase(sessionEnded, (state, { payload }) => {
        state.current = null
        state.origin = null
        state.ended = payload
      })
      .addCase(roleChanged, (state, { payload }) => {
        if (state.current) state.current.isAdmin = payload
      })
      .addCase(signInRequired, (state, { payload }) => {
        // After a deliberate sign-out the next user must not land on the same page.
        if (state.ended !== 'signedOut') state.origin = safeOrigin(payload)
      })
  },
  selectors: {
    selectSignedIn: (state) => state.current !== null,
    selectIsAdmin: (state) => state.current?.isAdmin ?? false,
    selectSession: (state) => state.current,
    selectOrigin: (state) => state.origin,
    selectEnded: (state) => state.ended,
  },
})

export const { selectSignedIn, selectIsAdmin, selectSession, selectOrigin, selectEnded } = sessionSlice.selectors
