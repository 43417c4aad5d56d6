import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { readSession } from '../../../api/signIn/credentials'
import { registrationApi } from '../../../api/signIn/registration'
import { addAppListeners } from '../../../app/appListeners'
import { rootReducer } from '../../../app/rootReducer'
import { sessionStarted } from '../../../facts'

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
      .addMatcher(registrationApi.endpoints.verifyInvite.matchFulfilled, (state) => {
        state.step = 'account'
      })
      .addMatcher(registrationApi.endpoints.register.matchFulfilled, (state) => {
        state.step = 'authenticator'
      })
      .addMatcher(registrationApi.endpoints.verifyRegistration.matchFulfilled, (state) => {
        state.step = 'done'
      })
  },
  selectors: { selectStep: (state) => state.step, selectUsername: (state) => state.username },
})

declare module '../../../app/rootReducer' {
  interface LazySlices {
    registration: RegistrationState
  }
}

export const { usernameChosen, left: registrationReset } = registrationSlice.actions
export const { selectStep, selectUsername } = registrationSlice.injectInto(rootReducer).selectors

addAppListeners((startListening) =>
  startListening({
    matcher: registrationApi.endpoints.verifyRegistration.matchFulfilled,
    effect(_action, { dispatch, extra }) {
      const session = readSession(extra)
      if (session) dispatch(sessionStarted({ ...session, wrongCodes: null }))
    },
  }),
)
