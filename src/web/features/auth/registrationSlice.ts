import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { authApi } from '../../api/auth'
import { rootReducer } from '../../app/rootReducer'

export type RegistrationState = { step: 'invite' | 'account' | 'authenticator' | 'done'; username: string }

const initialState: RegistrationState = { step: 'invite', username: '' }

const registrationSlice = createSlice({
  name: 'registration',
  initialState,
  reducers: {
    usernameChosen(state, { payload }: PayloadAction<string>) {
      state.username = payload
    },
    left: () => initialState,
  },
  extraReducers: (builder) => {
    builder
      .addMatcher(authApi.endpoints.verifyInvite.matchFulfilled, (state) => {
        state.step = 'account'
      })
      .addMatcher(authApi.endpoints.register.matchFulfilled, (state) => {
        state.step = 'authenticator'
      })
      .addMatcher(authApi.endpoints.verifyRegistration.matchFulfilled, (state) => {
        state.step = 'done'
      })
  },
  selectors: { selectStep: (state) => state.step, selectUsername: (state) => state.username },
})

declare module '../../app/rootReducer' {
  interface LazySlices {
    registration: RegistrationState
  }
}

export const { usernameChosen, left: registrationReset } = registrationSlice.actions
export const { selectStep, selectUsername } = registrationSlice.injectInto(rootReducer).selectors
