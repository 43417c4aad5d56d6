import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice, isAnyOf } from '@reduxjs/toolkit'
import type { UserAccess } from '../../../contract/access'
import type { ActivityKind } from '../../../contract/admin'
import { activityApi } from '../../api/activity'
import { adminApi } from '../../api/admin'
import { rootReducer } from '../../app/rootReducer'
import { addAppListeners } from '../../app/appListeners'
import { roleChanged, sessionEnded } from '../../facts'
import type { ApiFailure } from '../../failure'
import type { InviteStatus } from './invites/inviteStatus'

/** `tries` counts submissions. The form shows validation errors from the first one on. */
export type InviteCreation = { kind: 'createInvite'; message: string; access?: UserAccess; tries?: number }

/** No secrets here: an invite is identified by its key (inviteKey.ts), not by its code. */
export type AdminDialog =
  | { kind: 'resetPassword' | 'makeAdministrator' | 'deleteUser'; id: number }
  | InviteCreation
  | { kind: 'deleteInvite'; key: string }
  | { kind: 'deleteToken' }
  /** `id` is the user's. Without `of`: all of their sessions. */
  | { kind: 'endSessions'; id: number; of?: string }
  | { kind: 'deleteKey'; id: number; of: string }

/** Unsaved rights, and the saved ones that they were made from. */
export type AccessEdit = { access: UserAccess; saved: UserAccess }

export type AdminState = {
  dialog: AdminDialog | null
  userSearch: string
  /** Null: all. */
  inviteFilter: InviteStatus | null
  /** `kind: null` means all kinds. `hours: null` means any time; otherwise the maximum age. */
  activity: { kind: ActivityKind | null; hours: number | null; search: string }
  /** By user id. */
  accessEdits: Record<number, AccessEdit>
}

const initialState: AdminState = {
  dialog: null,
  userSearch: '',
  inviteFilter: null,
  activity: { kind: null, hours: null, search: '' },
  accessEdits: {},
}

const adminSlice = createSlice({
  name: 'admin',
  initialState,
  reducers: {
    dialogOpened(state, { payload }: PayloadAction<AdminDialog>) {
      state.dialog = payload
    },
    inviteMessageTyped(state, { payload }: PayloadAction<string>) {
      if (state.dialog?.kind === 'createInvite') state.dialog.message = payload
    },
    inviteAccessChosen(state, { payload }: PayloadAction<UserAccess>) {
      if (state.dialog?.kind === 'createInvite') state.dialog.access = payload
    },
    inviteTried(state) {
      if (state.dialog?.kind === 'createInvite') state.dialog.tries = (state.dialog.tries ?? 0) + 1
    },
    /** With a kind, closes only that dialog: a late call must not close a dialog that was opened since. */
    dialogClosed(state, { payload: kind }: PayloadAction<AdminDialog['kind'] | undefined>) {
      if (!kind || state.dialog?.kind === kind) state.dialog = null
    },
    usersSearched(state, { payload }: PayloadAction<string>) {
      state.userSearch = payload
    },
    inviteStatusChosen(state, { payload }: PayloadAction<InviteStatus | null>) {
      state.inviteFilter = payload
    },
    activityFiltered(state, { payload }: PayloadAction<Partial<AdminState['activity']>>) {
      Object.assign(state.activity, payload)
    },
    /** `saved` counts at the first change only. */
    accessChosen(state, { payload: { id, access, saved } }: PayloadAction<{ id: number } & AccessEdit>) {
      state.accessEdits[id] = { access, saved: state.accessEdits[id]?.saved ?? saved }
    },
    accessChoiceDropped(state, { payload: id }: PayloadAction<number>) {
      delete state.accessEdits[id]
    },
  },
  extraReducers: (builder) => {
    builder.addCase(sessionEnded, () => initialState)
    // The filter must show the new invite.
    builder.addMatcher(adminApi.endpoints.createInviteCode.matchFulfilled, (state) => {
      if (state.inviteFilter !== 'Active') state.inviteFilter = null
    })
  },
  selectors: {
    selectDialog: (state) => state.dialog,
    selectUserSearch: (state) => state.userSearch,
    selectInviteFilter: (state) => state.inviteFilter,
    selectActivityFilter: (state) => state.activity,
    selectAccessEdit: (state, id: number): AccessEdit | undefined => state.accessEdits[id],
  },
})

declare module '../../app/rootReducer' {
  interface LazySlices {
    admin: AdminState
  }
}

export const {
  dialogOpened,
  inviteMessageTyped,
  inviteAccessChosen,
  inviteTried: inviteSubmitted,
  dialogClosed,
  usersSearched,
  inviteStatusChosen,
  activityFiltered,
  accessChosen,
  accessChoiceDropped,
} = adminSlice.actions
export const { selectDialog, selectUserSearch, selectInviteFilter, selectActivityFilter, selectAccessEdit } =
  adminSlice.injectInto(rootReducer).selectors

const { getUsers, getInviteCodes, getDashboardToken } = adminApi.endpoints

// A refused query shows that the user is no administrator. Mutations are refused for other reasons, too.
addAppListeners((startListening) => {
  startListening({
    matcher: isAnyOf(
      getUsers.matchRejected,
      getInviteCodes.matchRejected,
      getDashboardToken.matchRejected,
      activityApi.endpoints.getActivity.matchRejected,
    ),
    effect(action, { dispatch }) {
      const { status, code, message } = (action as { payload?: Partial<ApiFailure> }).payload ?? {}
      // A refusal of a proxy has neither code nor message.
      if (status === 403 && (code ?? message) !== undefined) dispatch(roleChanged(false))
    },
  })
})
