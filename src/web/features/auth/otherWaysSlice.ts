import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice, isAnyOf } from '@reduxjs/toolkit'
import { authApi } from '../../api/signIn/auth'
import { otherSignInsApi } from '../../api/signIn/otherSignIns'
import { rootReducer } from '../../app/rootReducer'
import { loginRestarted } from './loginSlice'

export type OtherWaysState = {
  /** Whether the form for a recovery code is shown. */
  recovers: boolean
  /** Whether the browser is asked for a passkey. */
  isWaiting: boolean
  /** Why the last passkey was not accepted. */
  error: unknown
}

const initialState: OtherWaysState = { recovers: false, isWaiting: false, error: null }

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
      .addMatcher(signInWithPasskey.matchPending, (state) => {
        state.isWaiting = true
        state.error = null
      })
      .addMatcher(signInWithPasskey.matchFulfilled, (state) => {
        state.isWaiting = false
      })
      .addMatcher(
        signInWithPasskey.matchRejected,
        (state, { payload, error }: PayloadAction<unknown> & { error: unknown }) => {
          state.isWaiting = false
          state.error = payload ?? error
        },
      )
      // Each step begins anew.
      .addMatcher(isAnyOf(authApi.endpoints.login.matchFulfilled, loginRestarted), () => initialState)
  },
  selectors: { selectWaitsForPasskey: (state) => state.isWaiting },
})

declare module '../../app/rootReducer' {
  interface LazySlices {
    otherWays: OtherWaysState
  }
}

export const { recoveryChosen } = otherWaysSlice.actions
export const { selectWaitsForPasskey } = otherWaysSlice.injectInto(rootReducer).selectors
