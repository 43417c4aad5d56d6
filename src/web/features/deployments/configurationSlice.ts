import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { sessionEnded } from '../../facts'
import type { Leaving } from '../../ui/useLeaveGuard'

/** `revision` is of the stored text that it was made from, which may be another by now. */
type Draft = { text: string; revision?: string }

export type ConfigurationState = {
  /** What differs from the stored text, by deployment. */
  drafts: Record<string, Draft>
  dialog: 'changes' | 'conflict' | Leaving | null
}

const initialState: ConfigurationState = { drafts: {}, dialog: null }

export const configurationSlice = createSlice({
  name: 'configuration',
  initialState,
  reducers: {
    draftTyped(state, { payload: { name, text, revision } }: PayloadAction<{ name: string } & Draft>) {
      const draft = state.drafts[name]
      if (draft) draft.text = text
      else state.drafts[name] = { text, ...(revision !== undefined && { revision }) }
    },
    /** Made from what was stored when it was typed, which may be another text by now. */
    draftRestored(state, { payload: { name, ...draft } }: PayloadAction<{ name: string } & Draft>) {
      state.drafts[name] = draft
    },
    /** The stored text is what counts again: because it became the same, or because the user gave up. */
    draftDropped(state, { payload: name }: PayloadAction<string>) {
      delete state.drafts[name]
    },
    /** Who typed on while the save was on its way keeps what came after, made from what is stored now. */
    draftSaved(state, { payload: { name, text, revision } }: PayloadAction<{ name: string } & Draft>) {
      const draft = state.drafts[name]
      if (draft?.text === text) delete state.drafts[name]
      else if (draft) state.drafts[name] = { text: draft.text, ...(revision !== undefined && { revision }) }
    },
    /** Somebody else saved since the text was opened. */
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
    // Nothing that one user typed may wait here for the next. It is kept for its user beside the store (drafts/).
    builder.addCase(sessionEnded, () => initialState)
  },
  selectors: {
    selectDraft: (state, name: string) => (Object.hasOwn(state.drafts, name) ? state.drafts[name] : undefined),
    selectDialog: (state) => state.dialog,
  },
})

export const {
  draftTyped,
  draftRestored,
  draftDropped,
  draftSaved,
  conflictMet,
  changesOpened,
  leaveAsked,
  dialogClosed,
} = configurationSlice.actions
export const { selectDraft, selectDialog } = configurationSlice.selectors
