import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import type { PreviousSignIn } from '../../../contract/access'
import type { WrongCodes } from '../../../contract/signIn/auth'
import { rootReducer } from '../../app/rootReducer'
import { sessionEnded } from '../../facts'

export type AccountState = {
  menuOpen: boolean
  dialog: 'sessions' | 'password' | 'export' | null
  /** The session that the user is asked to confirm ending: its id, or all others. */
  ending: { id: string } | 'others' | null
  /** Wrong codes that are shown to the user and not dismissed yet. */
  wrongCodes: WrongCodes | null
  /** The previous sign-in while it is shown to the user. */
  previousSignIn: PreviousSignIn | null
}

const initialState: AccountState = {
  menuOpen: false,
  dialog: null,
  ending: null,
  wrongCodes: null,
  previousSignIn: null,
}

const accountSlice = createSlice({
  name: 'account',
  initialState,
  reducers: {
    userMenuOpened(state) {
      state.menuOpen = true
    },
    userMenuClosed(state) {
      state.menuOpen = false
    },
    accountDialogOpened(state, { payload }: PayloadAction<NonNullable<AccountState['dialog']>>) {
      state.dialog = payload
      state.menuOpen = false
      state.ending = null
    },
    accountDialogClosed(state) {
      state.dialog = null
    },
    sessionEndAsked(state, { payload }: PayloadAction<{ id: string } | 'others'>) {
      state.ending = payload
    },
    sessionEndDropped(state) {
      state.ending = null
    },
    wrongCodesTold(state, { payload }: PayloadAction<WrongCodes>) {
      state.wrongCodes = payload
    },
    wrongCodesDismissed(state) {
      state.wrongCodes = null
    },
    previousSignInReported(state, { payload }: PayloadAction<PreviousSignIn>) {
      state.previousSignIn = payload
    },
    previousSignInDismissed(state) {
      state.previousSignIn = null
    },
  },
  extraReducers: (builder) => {
    builder.addCase(sessionEnded, () => initialState)
  },
  selectors: {
    selectUserMenuOpen: (state) => state.menuOpen,
    selectAccountDialog: (state) => state.dialog,
    selectEnding: (state) => state.ending,
    selectWrongCodes: (state) => state.wrongCodes,
    selectPreviousSignIn: (state) => state.previousSignIn,
  },
})

declare module '../../app/rootReducer' {
  interface LazySlices {
    account: AccountState
  }
}

export const {
  userMenuOpened,
  userMenuClosed,
  accountDialogOpened,
  accountDialogClosed,
  sessionEndAsked: sessionEndRequested,
  sessionEndDropped: sessionEndDismissed,
  wrongCodesTold: wrongCodesReported,
  wrongCodesDismissed,
  previousSignInReported,
  previousSignInDismissed,
} = accountSlice.actions
export const { selectUserMenuOpen, selectAccountDialog, selectEnding, selectWrongCodes, selectPreviousSignIn } =
  accountSlice.injectInto(rootReducer).selectors
