import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import type { ActivityKind } from '../../../contract/admin'
import { sessionEnded } from '../../facts'

/** From the first try on, the form says what is wrong with it. */
export type InviteCreation = { kind: 'createInvite'; message: string; tries?: number }

/** What a dialog is about is named by what is no secret: an invite has no other name than its place in time (inviteKey.ts). */
export type AdminDialog =
  | { kind: 'resetPassword' | 'deleteUser'; id: number }
  | InviteCreation
  | { kind: 'deleteInvite'; key: string }
  | { kind: 'deleteToken' }

export type AdminState = {
  dialog: AdminDialog | null
  userSearch: string
  /** A kind of `null` is all of them. */
  activity: { kind: ActivityKind | null; search: string }
}

const initialState: AdminState = { dialog: null, userSearch: '', activity: { kind: null, search: '' } }

export const adminSlice = createSlice({
  name: 'admin',
  initialState,
  reducers: {
    dialogOpened(state, { payload }: PayloadAction<AdminDialog>) {
      state.dialog = payload
    },
    inviteMessageTyped(state, { payload }: PayloadAction<string>) {
      if (state.dialog?.kind === 'createInvite') state.dialog.message = payload
    },
    inviteTried(state) {
      if (state.dialog?.kind === 'createInvite') state.dialog.tries = (state.dialog.tries ?? 0) + 1
    },
    /** With a kind, closes nothing else: a call that ends late must leave alone what was opened meanwhile. */
    dialogClosed(state, { payload: kind }: PayloadAction<AdminDialog['kind'] | undefined>) {
      if (!kind || state.dialog?.kind === kind) state.dialog = null
    },
    usersSearched(state, { payload }: PayloadAction<string>) {
      state.userSearch = payload
    },
    activityFiltered(state, { payload }: PayloadAction<Partial<AdminState['activity']>>) {
      Object.assign(state.activity, payload)
    },
  },
  extraReducers: (builder) => {
    builder.addCase(sessionEnded, () => initialState)
  },
  selectors: {
    selectDialog: (state) => state.dialog,
    selectUserSearch: (state) => state.userSearch,
    selectActivityFilter: (state) => state.activity,
  },
})

export const { dialogOpened, inviteMessageTyped, inviteTried, dialogClosed, usersSearched, activityFiltered } =
  adminSlice.actions
export const { selectDialog, selectUserSearch, selectActivityFilter } = adminSlice.selectors
