import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { authApi } from '../../api/auth'

export type RegistrationState = { step: 'invite' | 'account' | 'authenticator' | 'done'; username: string }

const initialState: RegistrationState = { step: 'invite', username: '' }

export const registrationSlice = createSlice({
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

export const { usernameChosen, left: registrationReset } = registrationSlice.actions
export const { selectStep, selectUsername } = registrationSlice.selectors
