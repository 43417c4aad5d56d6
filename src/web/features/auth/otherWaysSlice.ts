import { createSlice, isAnyOf } from '@reduxjs/toolkit'
import { authApi } from '../../api/signIn/auth'
import { otherSignInsApi } from '../../api/signIn/otherSignIns'
import { rootReducer } from '../../app/rootReducer'
import { sessionStarted } from '../../facts'
import { loginRestarted } from './loginSlice'

export type OtherWaysState = {
  /** Whether the form for a recovery code is shown. */
  recovers: boolean
  /** The request for which the browser asks for a passkey. A new one aborts it, and its end no longer counts. */
  passkeyRequest: string | null
  /** Why the last passkey was not accepted. */
  error: unknown
}

const initialState: OtherWaysState = { recovers: false, passkeyRequest: null, error: null }

const { signInWithPasskey } = otherSignInsApi.endpoints

/** Other ways to sign in than a password with a one-time code, on either step of the login page. */
const otherWaysSlice = createSlice({
  name: 'otherWays',
  initialState,
  reducers: {
    recoveryChosen(state) {
      state.recovers = true
    },
  },
  extraReducers: (builder) => {
    builder
      .addMatcher(signInWithPasskey.matchPending, (state, { meta }) => {
        state.passkeyRequest = meta.requestId
        state.error = null
      })
      .addMatcher(isAnyOf(signInWithPasskey.matchFulfilled, signInWithPasskey.matchRejected), (state, action) => {
        if (state.passkeyRequest !== action.meta.requestId) return
        state.passkeyRequest = null
        if (signInWithPasskey.matchRejected(action)) state.error = action.payload ?? action.error
      })
      // Each step begins anew.
      .addMatcher(isAnyOf(authApi.endpoints.login.matchFulfilled, sessionStarted, loginRestarted), () => initialState)
  },
  selectors: { selectWaitsForPasskey: (state) => state.passkeyRequest !== null },
})

declare module '../../app/rootReducer' {
  interface LazySlices {
    otherWays: OtherWaysState
  }
}

export const { recoveryChosen } = otherWaysSlice.actions
export const { selectWaitsForPasskey } = otherWaysSlice.injectInto(rootReducer).selectors
