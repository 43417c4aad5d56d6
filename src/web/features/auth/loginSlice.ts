import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { authApi } from '../../api/signIn/auth'
import { sessionStarted } from '../../facts'

type LoginState = { step: 'credentials' | 'code'; username: string; forgotOpen: boolean }

const initialState: LoginState = { step: 'credentials', username: '', forgotOpen: false }

export const loginSlice = createSlice({
  name: 'login',
  initialState,
  reducers: {
    /** A login that still needs its code was found after a reload. */
    resumed: (_state, { payload: username }: PayloadAction<string>) => ({
      ...initialState,
      step: 'code' as const,
      username,
    }),
    usernameTyped(state, { payload }: PayloadAction<string>) {
      state.username = payload
    },
    returned(state) {
      state.step = 'credentials'
    },
    forgotOpened(state) {
      state.forgotOpen = true
    },
    forgotClosed(state) {
      state.forgotOpen = false
    },
  },
  extraReducers: (builder) => {
    builder
      .addCase(sessionStarted, () => initialState)
      .addMatcher(authApi.endpoints.login.matchFulfilled, (state) => {
        state.step = 'code'
      })
  },
  selectors: {
    selectStep: (state) => state.step,
    selectUsername: (state) => state.username,
    selectForgotOpen: (state) => state.forgotOpen,
  },
})

export const {
  resumed: loginResumed,
  usernameTyped,
  returned: loginRestarted,
  forgotOpened: forgotPasswordOpened,
  forgotClosed: forgotPasswordClosed,
} = loginSlice.actions
export const { selectStep, selectUsername, selectForgotOpen } = loginSlice.selectors
