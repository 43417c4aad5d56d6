import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { rootReducer } from '../../../app/rootReducer'
import { sessionEnded } from '../../../facts'
import type { Leaving } from '../../../ui/leave/useLeaveGuard'

/** `revision` identifies the stored text that the draft is based on, which may be outdated. */
type Draft = { text: string; revision?: string }

export type ConfigurationState = {
  /** Unsaved texts by deployment name. */
  drafts: Record<string, Draft>
  dialog: 'changes' | 'conflict' | Leaving | null
}

const initialState: ConfigurationState = { drafts: {}, dialog: null }

/** A deployment may be named `constructor`, which each object inherits. */
const draftOf = ({ drafts }: ConfigurationState, name: string) =>
  Object.hasOwn(drafts, name) ? drafts[name] : undefined

const configurationSlice = createSlice({
  name: 'configuration',
  initialState,
  reducers: {
    draftTyped(state, { payload: { name, text, revision } }: PayloadAction<{ name: string } & Draft>) {
      const draft = draftOf(state, name)
      if (draft) draft.text = text
      else state.drafts[name] = { text, ...(revision !== undefined && { revision }) }
    },
    /** The stored text may have changed since the draft was written. */
    draftRestored(state, { payload: { name, ...draft } }: PayloadAction<{ name: string } & Draft>) {
      state.drafts[name] = draft
    },
    /** The user discarded the draft, or it became equal to the stored text. */
    draftDropped(state, { payload: name }: PayloadAction<string>) {
      delete state.drafts[name]
    },
    /** Text that was typed while the save was in flight stays a draft, based on the revision that was just stored. */
    draftSaved(state, { payload: { name, text, revision } }: PayloadAction<{ name: string } & Draft>) {
      const draft = draftOf(state, name)
      if (draft?.text === text) delete state.drafts[name]
      else if (draft) state.drafts[name] = { text: draft.text, ...(revision !== undefined && { revision }) }
    },
    /** Another session saved since the text was opened. */
    conflictMet(state) {
      state.dialog = 'conflict'
    },
    changesOpened(state) {
      state.dialog = 'changes'
    },
    leaveAsked(state, { payload }: PayloadAction<Leaving>) {
      state.dialog = payload
    },
    dialogClosed(state) {
      state.dialog = null
    },
  },
  extraReducers: (builder) => {
    // Drafts of one user must not reach the next. Each user's drafts are also kept outside the store (drafts/).
    builder.addCase(sessionEnded, () => initialState)
  },
  selectors: {
    selectDraft: draftOf,
    selectDialog: (state) => state.dialog,
  },
})

declare module '../../../app/rootReducer' {
  interface LazySlices {
    configuration: ConfigurationState
  }
}

export const {
  draftTyped,
  draftRestored,
  draftDropped,
  draftSaved,
  conflictMet: conflictDetected,
  changesOpened,
  leaveAsked: leaveRequested,
  dialogClosed,
} = configurationSlice.actions
export const { selectDraft, selectDialog } = configurationSlice.injectInto(rootReducer).selectors
