import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import type { MethodTable } from '../../../api/signIn/ownMethods'
import { rootReducer } from '../../../app/rootReducer'
import { sessionEnded } from '../../../facts'

export type SecurityDialog =
  | { kind: 'addPasskey' | 'addAuthenticator' | 'createRecoveryCodes' | 'connect' | 'disconnect' }
  | { kind: 'rename' | 'remove'; table: MethodTable; id: string }

/** Typed texts, and secrets that are shown once, stay in component state, because the action log records the store. */
export type SecurityState = { dialog: SecurityDialog | null }

const initialState: SecurityState = { dialog: null }

const securitySlice = createSlice({
  name: 'security',
  initialState,
  reducers: {
    dialogOpened(state, { payload }: PayloadAction<SecurityDialog>) {
      state.dialog = payload
    },
    dialogClosed(state) {
      state.dialog = null
    },
  },
  extraReducers: (builder) => {
    builder.addCase(sessionEnded, () => initialState)
  },
  selectors: { selectSecurityDialog: (state) => state.dialog },
})

declare module '../../../app/rootReducer' {
  interface LazySlices {
    security: SecurityState
  }
}

export const { dialogOpened: securityDialogOpened, dialogClosed: securityDialogClosed } = securitySlice.actions
export const { selectSecurityDialog } = securitySlice.injectInto(rootReducer).selectors
